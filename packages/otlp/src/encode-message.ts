import type { Encoding } from './encoding.ts'
import type { Message } from './field.ts'
import { jsonWriterOf } from './json-encode.ts'
import { JsonWriter } from './json-writer.ts'
import { protobufWriterOf } from './protobuf-encode.ts'
import { ProtobufWriter } from './protobuf-writer.ts'
import type { ReverseBuffer } from './reverse-buffer.ts'

/** Encodes any message of a table into new memory. Requests use `RequestEncoder`, which reuses its scratch memory. */
export function encodeMessage<T>(message: Message<T>, model: T, encoding: Encoding): Uint8Array {
  if (encoding === 'json') return written(new JsonWriter(), jsonWriterOf(message), model)
  return written(new ProtobufWriter(), protobufWriterOf(message), model)
}

function written<Writer extends ReverseBuffer, T>(
  writer: Writer,
  write: (writer: Writer, model: T) => void,
  model: T,
): Uint8Array {
  write(writer, model)
  return new Uint8Array(writer.bytesView())
}
