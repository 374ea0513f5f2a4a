/** The two encodings of OTLP. */
export type Encoding = 'protobuf' | 'json'

/** The `Content-Type` of each encoding. */
export const contentTypes: Readonly<Record<Encoding, string>> = {
  protobuf: 'application/x-protobuf',
  json: 'application/json',
}
