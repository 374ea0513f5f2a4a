import type { ReverseBuffer } from '../bytes/reverse-buffer.ts'
import { getJsonWriter } from '../json/json-encode.ts'
import { getProtobufWriter } from '../protobuf/protobuf-encode.ts'
import type { Message } from '../schema/field.ts'
import { JsonWriter } from '../schema/json-writer.ts'
import { ProtobufWriter } from '../schema/protobuf-writer.ts'
import type { Encoding } from './encoding.ts'

/** Encodes any message of a table into new memory. Requests use `RequestEncoder`, which reuses its scratch memory. */
export function encodeMessage<T>(message: Message<T>, model: T, encoding: Encoding): Uint8Array {
  if (encoding === 'json') return written(new JsonWriter(), getJsonWriter(message), model)
  return written(new ProtobufWriter(), getProtobufWriter(message), model)
}

function written<Writer extends ReverseBuffer, T>(
  writer: Writer,
  write: (writer: Writer, model: T) => void,
  model: T,
): Uint8Array {
  write(writer, model)
  return new Uint8Array(writer.bytesView())
}
