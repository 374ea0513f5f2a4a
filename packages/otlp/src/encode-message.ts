import type { Encoding } from './encoding.ts'
import type { Message } from './field.ts'
import { jsonTextOf } from './json-encode.ts'
import { JsonAttributes } from './json-encode-attributes.ts'
import { protobufWriterOf } from './protobuf-encode.ts'
import { ProtobufWriter } from './protobuf-writer.ts'

/** Any message of a table, in memory of its own. Requests go through `RequestEncoder`, which keeps its scratch memory. */
export function encodeMessage<T>(message: Message<T>, model: T, encoding: Encoding): Uint8Array {
  if (encoding === 'json') return new Uint8Array(Buffer.from(jsonTextOf(message)(model, new JsonAttributes())))
  const writer = new ProtobufWriter()
  protobufWriterOf(message)(writer, model)
  return new Uint8Array(writer.bytesView())
}
