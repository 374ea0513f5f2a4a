import { setFlagsFromString } from 'node:v8'

/**
 * For a process that may be quiet for an hour and then be asked ten thousand times in a second. After a quiet time V8 lets
 * the heap grow so little that a flood is interrupted by a full collection every three seconds, each of which holds up all
 * requests for 50 ms and more on a machine of two processors. Costs about 30 MiB of resident memory.
 */
export function keepCollectionsRare(): void {
  setFlagsFromString('--heap-growing-percent=150')
}
