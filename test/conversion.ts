import { type Conversion, type ConvertOptionsInput, convert, resolveOptions } from '@penstock/converter'
import { readInput } from '@penstock/forges'

/** Returns the conversion of a single pipeline body. */
export function conversionOf(body: unknown, options: ConvertOptionsInput = {}): Conversion {
  const input = readInput(body, { receivedAtNs: undefined })
  if (input.kind !== 'pipeline') throw new Error('not a pipeline')
  return convert(input.record, resolveOptions(options))
}
