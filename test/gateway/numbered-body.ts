/** `n00000042`: short, of one length, and nothing else in a body looks like it. */
export const idOf = (number: number): string => `n${String(number).padStart(8, '0')}`

/** ExportTraceServiceRequest in protobuf: one span whose name is the id, which survives being joined with others. */
export function numberedBody(id: string): Buffer {
  const span = field(2, field(1, Buffer.alloc(16, 7)), field(2, Buffer.alloc(8, 9)), field(5, Buffer.from(id)))
  return field(1, field(1, serviceName), field(2, span))
}

/** Ids in a body, which may be several joined. */
export const idsIn = (body: Buffer): string[] => body.toString('latin1').match(/n\d{8}/g) ?? []

/** One record of protobuf's wire type 2; no content here is longer than 127 bytes. */
function field(number: number, ...content: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(content)
  if (bytes.length > 127) throw new Error('longer than one byte can say')
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes])
}

const serviceName = field(1, field(1, Buffer.from('service.name')), field(2, field(1, Buffer.from('numbered'))))
