/** Returns an id such as `n00000042`: of fixed length, and unlike anything else in a body. */
export const idOf = (number: number): string => `n${String(number).padStart(8, '0')}`

/** Returns an ExportTraceServiceRequest in protobuf with one span. The span's name is the id, so it survives coalescing. */
export function numberedBody(id: string): Buffer {
  const span = field(2, field(1, Buffer.alloc(16, 7)), field(2, Buffer.alloc(8, 9)), field(5, Buffer.from(id)))
  return field(1, field(1, serviceName), field(2, span))
}

/** Returns the ids in a body, which may be coalesced from several. */
export const idsIn = (body: Buffer): string[] => body.toString('latin1').match(/n\d{8}/g) ?? []

/** Encodes one record of wire type 2. Its content must not exceed 127 bytes. */
function field(number: number, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content)
  if (bytes.length > 127) throw new Error('the content is longer than 127 bytes')
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes])
}

const serviceName = field(1, field(1, Buffer.from('service.name')), field(2, field(1, Buffer.from('numbered'))))
