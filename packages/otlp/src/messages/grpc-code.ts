/** The codes of google.rpc.Code by name. */
export const GrpcCode = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const
export type GrpcCodeName = keyof typeof GrpcCode

const names = Object.keys(GrpcCode) as GrpcCodeName[]

/** Returns the name of a code; `undefined` for a number that gRPC does not define. */
export function grpcCodeName(code: number): GrpcCodeName | undefined {
  return names[code]
}
