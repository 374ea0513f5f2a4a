import { STATUS_CODES, validateHeaderValue } from 'node:http'
import type { FlatHeaders } from '../contract/export-call.ts'
import { bytesAsText } from './http1-exchange.ts'

/**
 * Formats replies over HTTP/1.1, with the headers that node:http would add. Keeps the last text, because most replies of a second
 * are the same success.
 */
export class ReplyText {
  readonly #nowMs: () => number
  #second = Number.NaN
  #date = ''
  #status = 0
  #headers: FlatHeaders | undefined
  #body: Uint8Array | undefined
  #isEnding = false
  #text = ''

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /**
   * Returns a reply as text in which each character represents one byte (latin1). `isEnding`: the connection ends with this reply.
   *
   * @throws {TypeError} if the value of a header has a character that is not allowed, such as a line end
   */
  of(status: number, headers: FlatHeaders, body: Uint8Array | undefined, isEnding: boolean): string {
    const nowMs = this.#nowMs()
    const second = Math.floor(nowMs / 1_000)
    if (second !== this.#second) {
      this.#second = second
      this.#date = new Date(nowMs).toUTCString()
    } else if (
      status === this.#status &&
      headers === this.#headers &&
      body === this.#body &&
      isEnding === this.#isEnding
    ) {
      return this.#text
    }
    // Throws for an invalid header, so the key of the text is set afterwards.
    this.#text = this.#write(status, headers, body, isEnding)
    this.#status = status
    this.#headers = headers
    this.#body = body
    this.#isEnding = isEnding
    return this.#text
  }

  #write(status: number, headers: FlatHeaders, body: Uint8Array | undefined, isEnding: boolean): string {
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`
    for (let at = 0; at < headers.length; at += 2) {
      const [name, value] = [headers[at]!, headers[at + 1]!]
      validateHeaderValue(name, value)
      text += `${name}: ${value}\r\n`
    }
    text += `Date: ${this.#date}\r\nConnection: ${isEnding ? 'close' : 'keep-alive'}\r\n\r\n`
    return body === undefined ? text : text + bytesAsText(body)
  }
}
