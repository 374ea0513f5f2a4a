import type { Encoding } from './encoding.ts'
import type { Message } from './field.ts'
import { jsonTextOf } from './json-encode.ts'
import { JsonAttributes } from './json-encode-attributes.ts'
import { protobufWriterOf } from './protobuf-encode.ts'
import { ProtobufWriter } from './protobuf-writer.ts'

/** Encodes any message of a table into new memory. Requests use `RequestEncoder`, which reuses its scratch memory. */
export function encodeMessage<T>(message: Message<T>, model: T, encoding: Encoding): Uint8Array {
  if (encoding === 'json') return new Uint8Array(Buffer.from(jsonTextOf(message)(model, new JsonAttributes())))
  const writer = new ProtobufWriter()
  protobufWriterOf(message)(writer, model)
  return new Uint8Array(writer.bytesView())
}
