import highlighter from 'highlight.js'
import { escapeHtml } from './html/escape-html.ts'

/** File names without an extension that tell a language. */
const languageOfName: Readonly<Record<string, string>> = {
  dockerfile: 'dockerfile',
  makefile: 'makefile',
  gemfile: 'ruby',
  rakefile: 'ruby',
  vagrantfile: 'ruby',
  jenkinsfile: 'groovy',
  'cmakelists.txt': 'cmake',
  '.bashrc': 'bash',
  '.zshrc': 'bash',
  '.gitconfig': 'ini',
}

/**
 * Returns a file as lines of HTML with the classes of highlight.js. A text in an unknown language, or longer than
 * `maxBytes`, is only escaped.
 */
export function highlightFile(text: string, fileName: string, maxBytes: number): string {
  const language = languageOf(fileName)
  const isShort = Buffer.byteLength(text) <= maxBytes
  const html =
    language !== undefined && isShort
      ? highlighter.highlight(text, { language, ignoreIllegals: true }).value
      : escapeHtml(text)
  return numberedLines(html, language === undefined ? 'plaintext' : languageName(language))
}

function languageOf(fileName: string): string | undefined {
  const name = fileName.split('/').at(-1)!.toLowerCase()
  const extension = name.includes('.') ? name.split('.').at(-1)! : ''
  const language = languageOfName[name] ?? extension
  return /^[\w+#-]+$/.test(language) && highlighter.getLanguage(language) !== undefined ? language : undefined
}

/** Returns the name of a language in HTML, such as `python` for `py`. */
function languageName(language: string): string {
  const name = highlighter.getLanguage(language)?.name ?? language
  return name
    .toLowerCase()
    .split(',')[0]!
    .replaceAll(/[^\w+#-]/g, '_')
}

/** Wraps each line in an element. A span that continues on the next line is closed and opened again. */
function numberedLines(html: string, language: string): string {
  const open: string[] = []
  const lines = html.replace(/\n$/, '').split('\n')
  return lines
    .map((line, index) => {
      const before = open.join('')
      for (const [tag] of line.matchAll(/<span[^>]*>|<\/span>/g)) {
        if (tag === '</span>') open.pop()
        else open.push(tag)
      }
      const after = '</span>'.repeat(open.length)
      return `<span id="LC${index + 1}" class="line" lang="${language}">${before}${line}${after}</span>`
    })
    .join('\n')
}
