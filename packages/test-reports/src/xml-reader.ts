import sax from 'sax'
import { ByteDecoder } from './byte-decoder.ts'
import { MAX_TOKEN_LENGTH, TestReportError, type TestReportLimits } from './report.ts'

// A setting of the whole module; the parser checks it after each piece that it gets.
Object.assign(sax, { MAX_BUFFER_LENGTH: MAX_TOKEN_LENGTH })

/** The attributes of an element, by name. */
export type XmlAttributes = ReadonlyMap<string, string>

/** Gets the parts of an XML text, in order. Text comes in pieces. */
export interface XmlHandler {
  open(name: string, attributes: XmlAttributes): void
  text(text: string): void
  close(): void
}

const tooLong = `a tag, an attribute or a DOCTYPE is longer than ${MAX_TOKEN_LENGTH} characters`
const declarations = 'a DOCTYPE with declarations, such as entities, is not allowed'

/** The number of UTF-16 code units that the parser gets at a time. It checks its limits in between. */
const PIECE_LENGTH = 64 * 1024

/**
 * Reads the bytes of an XML text as they arrive. Memory is bounded: an element is refused as soon as its depth, or the number or
 * length of its attributes, exceeds a limit. Declarations of entities are refused, and nothing is loaded.
 */
export class XmlReader {
  readonly #limits: TestReportLimits
  readonly #handler: XmlHandler
  readonly #decoder = new ByteDecoder()
  readonly #parser: sax.SAXParser
  #bytes = 0
  #depth = 0
  #attributes = new Map<string, string>()

  constructor(limits: TestReportLimits, handler: XmlHandler) {
    this.#limits = limits
    this.#handler = handler
    this.#parser = sax.parser(true)
    this.#connect(this.#parser)
  }

  /** @throws {TestReportError} */
  write(bytes: Uint8Array): void {
    this.#bytes += bytes.length
    const { maxBytes } = this.#limits
    if (this.#bytes > maxBytes) throw new TestReportError(`it is longer than ${maxBytes / 1024 / 1024} MiB`)
    this.#parse(this.#decoder.decode(bytes))
  }

  /** @throws {TestReportError} */
  end(): void {
    this.#parse(this.#decoder.end())
    this.#parser.close()
  }

  #parse(text: string): void {
    for (let at = 0; at < text.length; at += PIECE_LENGTH) this.#parser.write(text.slice(at, at + PIECE_LENGTH))
  }

  #connect(parser: sax.SAXParser): void {
    parser.onerror = (error) => {
      // The other lines of the message repeat the position.
      const [reason = ''] = error.message.split('\n')
      if (reason === 'Invalid character entity' && isCharacterReference(parser)) parser.resume()
      else throw this.#refusal(/^Max buffer length exceeded/.test(reason) ? tooLong : reason.replace(/\.$/, ''))
    }
    parser.onsgmldeclaration = () => {
      throw this.#refusal(declarations)
    }
    parser.ondoctype = (text) => {
      if (text.includes('[')) throw this.#refusal(declarations)
    }
    parser.onopentagstart = () => {
      this.#depth += 1
      if (this.#depth > this.#limits.maxDepth) {
        throw this.#refusal(`elements are nested more than ${this.#limits.maxDepth} deep`)
      }
      this.#attributes = new Map()
    }
    parser.onattribute = ({ name, value }) => {
      if (value.length > MAX_TOKEN_LENGTH) throw this.#refusal(tooLong)
      this.#attributes.set(name, value)
      if (this.#attributes.size > this.#limits.maxAttributes) {
        throw this.#refusal(`an element has more than ${this.#limits.maxAttributes} attributes`)
      }
    }
    parser.onopentag = ({ name }) => this.#handler.open(name, this.#attributes)
    parser.onclosetag = () => {
      this.#depth -= 1
      this.#handler.close()
    }
    parser.ontext = (text) => this.#handler.text(text)
    parser.oncdata = (text) => this.#handler.text(text)
  }

  #refusal(reason: string): TestReportError {
    return new TestReportError(`line ${this.#parser.line + 1}: ${reason}`)
  }
}

/**
 * Returns whether the entity that the parser has refused is the number of a character that XML does not have, such as `&#27;` in
 * coloured output. The reference then stays in the text.
 */
function isCharacterReference(parser: sax.SAXParser): boolean {
  return 'entity' in parser && /^#x?[0-9a-f]{1,8}$/i.test(String(parser.entity))
}
