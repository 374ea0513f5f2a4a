/**
 * Range checks of an encoder: without them, the wire format would silently truncate a number. A RangeError is a bug of
 * the caller.
 */

export function requireInt32(value: number): number {
  return (value | 0) === value ? value : outOfRange('an int32')
}

export function requireUint32(value: number): number {
  return value >>> 0 === value ? value : outOfRange('a uint32')
}

export function requireInt64(value: bigint): bigint {
  return Number.isSafeInteger(Number(value)) || BigInt.asIntN(64, value) === value ? value : outOfRange('an int64')
}

export function requireUint64(value: bigint): bigint {
  return BigInt.asUintN(64, value) === value ? value : outOfRange('a uint64')
}

function outOfRange(type: string): never {
  throw new RangeError(`a number does not fit into ${type}`)
}
