const breaks = ['\r\n', '\n', '\r', '\r\n ', '\u2028', '\u2029', '\u0085', '\u0000\r\n', '%0d%0a', '=0D=0A']
const injected = ['Bcc: all@evil.test', 'Content-Type: text/html', '\r\n<script>x</script>', 'Reply-To: a@evil.test']

/** 40 texts that would add a header, a recipient or markup to a mail that contains them unchanged. */
export const payloads: readonly string[] = breaks.flatMap((lineBreak) =>
  injected.map((header) => `Leak${lineBreak}${header}`),
)
