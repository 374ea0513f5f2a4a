export { OtlpDecodeError } from './decode-error.ts'
export { type DecodeLimits, defaultDecodeLimits } from './decode-limits.ts'
export { decodeRequest } from './decode-request.ts'
export { contentTypes, type Encoding } from './encoding.ts'
export { decodeExportResponse, encodeExportResponse, type PartialSuccess } from './export-response.ts'
export { GrpcCode, type GrpcCodeName, grpcCodeName } from './grpc-code.ts'
export { isSpanId, isTraceId } from './ids.ts'
export { joinChunks } from './join-chunks.ts'
export {
  type ChunkLimits,
  type ChunkWriter,
  defaultChunkLimits,
  type EncodedChunk,
  encodeRequest,
  RequestEncoder,
} from './request-encoder.ts'
export { decodeRpcStatus, encodeRpcStatus, type FieldViolation, type RpcStatus } from './rpc-status.ts'
export * from './signals.ts'
export { fromHrTime, type HrTime, toHrTime } from './time.ts'
export * from './types.ts'
export type { ChunkHeader } from './wire.ts'
