/** The two encodings of OTLP. */
export type Encoding = 'protobuf' | 'json'

/** What `Content-Type` says of a body in this encoding. */
export const contentTypes: Readonly<Record<Encoding, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
}
