/** The number of lines from which a section ends at the next empty line. */
const LONG_LINES = 20

const BEGIN = /^\s*#\+begin_(\S+)/i
const END = /^\s*#\+end_(\S+)/i
/** A line that may continue the list, drawer or footnote before an empty line. */
const CONTINUATION = /^(?:\s|[-+] |\d+[.)] |:|\[fn:)/
/** A line of preformatted text, such as `: ls -l`. */
const FIXED = /^\s*:(?: (.*))?$/

/** Splits an Org text before its headlines, and long sections at empty lines where no block or list continues. */
export function orgSections(source: string): string[] {
  const sections: string[] = []
  let lines: string[] = []
  let block: string | undefined
  const end = () => {
    if (lines.length > 0) sections.push(`${lines.join('\n')}\n`)
    lines = []
  }
  for (const line of blocksForFixedLines(source.split(/\r?\n/))) {
    if (block === undefined) {
      const isHeadline = /^\*+ /.test(line)
      const isPause = lines.length >= LONG_LINES && lines.at(-1)?.trim() === '' && !CONTINUATION.test(line)
      if (isHeadline || isPause) end()
      block = BEGIN.exec(line)?.[1]?.toLowerCase()
    } else if (END.exec(line)?.[1]?.toLowerCase() === block) block = undefined
    lines.push(line)
  }
  end()
  return sections
}

/** Writes lines that begin with a colon as blocks of an example, because the parser knows only these. */
function* blocksForFixedLines(lines: readonly string[]): Generator<string> {
  let block: string | undefined
  let isFixed = false
  for (const line of lines) {
    const fixed = block === undefined ? FIXED.exec(line) : null
    if (isFixed !== (fixed !== null)) yield isFixed ? '#+end_example' : '#+begin_example'
    isFixed = fixed !== null
    if (fixed !== null) {
      yield fixed[1] ?? ''
      continue
    }
    if (block === undefined) block = BEGIN.exec(line)?.[1]?.toLowerCase()
    else if (END.exec(line)?.[1]?.toLowerCase() === block) block = undefined
    yield line
  }
  if (isFixed) yield '#+end_example'
}
