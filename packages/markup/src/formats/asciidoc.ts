import { createRequire } from 'node:module'
import type { convert } from '@asciidoctor/core'

/** The build for `require`, because the other one imports JSON, about which Node 20 prints a warning. */
const asciidoctor = createRequire(import.meta.url)('@asciidoctor/core') as {
  readonly convert: typeof convert
  readonly LoggerManager: { logger: unknown }
  readonly NullLogger: { create(): unknown }
  readonly Reader: { readonly prototype: object }
  readonly PreprocessorReader: { readonly prototype: object }
}
// Messages about mistakes in a page would reach the error output of the process.
const logger = asciidoctor.NullLogger.create()
asciidoctor.LoggerManager.logger = logger
// The reader of a part of a page, as of an item in a list, knows no document and would write to the console.
for (const { prototype } of [asciidoctor.Reader, asciidoctor.PreprocessorReader])
  Object.defineProperty(prototype, 'logger', { get: () => logger })

/**
 * The attributes of every document. An attribute that is set here cannot be changed by the author, and `null` is one that
 * they cannot set.
 */
const attributes = {
  showtitle: '',
  idprefix: '',
  idseparator: '-',
  sectanchors: '',
  icons: null,
  'source-highlighter': null,
  'allow-uri-read': null,
  'data-uri': null,
  docinfo: null,
  'max-include-depth': 0,
  stylesheet: null,
  linkcss: '',
  outfilesuffix: '.adoc',
  'max-attribute-value-size': 4_096,
}

/**
 * Renders AsciiDoc in the mode SECURE, which reads no files and no URLs: `include::` becomes a link, and the author cannot
 * change the attributes that guard this.
 */
export async function renderAsciidoc(text: string): Promise<string> {
  const html = await asciidoctor.convert(text, { safe: 'secure', backend: 'html5', standalone: false, attributes })
  return String(html)
}
