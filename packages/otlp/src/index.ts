export { OtlpDecodeError } from './bytes/decode-error.ts'
export { type DecodeLimits, defaultDecodeLimits } from './bytes/decode-limits.ts'
export type { ChunkHeader } from './bytes/wire.ts'
export { decodeRequest, decodeRequestInSteps } from './messages/decode-request.ts'
export { contentTypes, type Encoding } from './messages/encoding.ts'
export { decodeExportResponse, encodeExportResponse, type PartialSuccess } from './messages/export-response.ts'
export { GrpcCode, type GrpcCodeName, grpcCodeName } from './messages/grpc-code.ts'
export { joinChunks } from './messages/join-chunks.ts'
export {
  type ChunkLimits,
  type ChunkWriter,
  defaultChunkLimits,
  type EncodedChunk,
  encodeRequest,
  RequestEncoder,
} from './messages/request-encoder.ts'
export { decodeRpcStatus, encodeRpcStatus, type FieldViolation, type RpcStatus } from './messages/rpc-status.ts'
export { isSpanId, isTraceId } from './model/ids.ts'
export * from './model/signals.ts'
export { fromHrTime, type HrTime, toHrTime } from './model/time.ts'
export * from './model/types.ts'
