import type { Schema } from 'hast-util-sanitize'
import { allowedClasses } from './classes.ts'

/** The values of `rel` and `target` of a link to another site. */
export const EXTERNAL_REL = ['nofollow', 'noreferrer', 'noopener'] as const
export const EXTERNAL_TARGET = '_blank'

/** The elements that may stay. Any other element is replaced with its content. */
const tagNames = [
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'div', 'section', 'blockquote', 'pre', 'hr', 'br', 'span'],
  ...['a', 'abbr', 'b', 'bdi', 'bdo', 'cite', 'code', 'del', 'dfn', 'em', 'i', 'ins', 'kbd', 'mark', 'q', 's', 'samp'],
  ...['small', 'strike', 'strong', 'sub', 'sup', 'time', 'tt', 'u', 'var', 'wbr', 'ruby', 'rp', 'rt'],
  ...['ul', 'ol', 'li', 'dl', 'dt', 'dd', 'details', 'summary', 'figure', 'figcaption', 'center'],
  ...['table', 'caption', 'colgroup', 'col', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td'],
  ...['img', 'input', 'audio', 'video'],
]

/**
 * The elements that are removed with their content, because their content is not text to read, or because a browser parses it
 * by other rules than the HTML around it.
 */
const strip = [
  ...[
    'script',
    'style',
    'template',
    'noscript',
    'iframe',
    'object',
    'embed',
    'applet',
    'frameset',
    'noframes',
    'noembed',
  ],
  ...['svg', 'math', 'title', 'textarea', 'select', 'option', 'button', 'xmp', 'plaintext', 'listing', 'marquee'],
]

const media: string[] = ['src', 'title', 'width', 'height']

/**
 * The HTML of an author that remains: a short list of elements, attributes and classes. Nothing in it runs, styles the page,
 * sends a form or loads anything but images, sound and films.
 */
export const schema: Schema = {
  allowComments: false,
  allowDoctypes: false,
  tagNames,
  strip,
  attributes: {
    '*': ['id', 'dir', 'lang', 'title', 'dataSourcepos', ['className', ...allowedClasses]],
    a: [
      'href',
      'ariaHidden',
      'ariaLabel',
      'dataFootnoteRef',
      'dataFootnoteBackref',
      ['rel', ...EXTERNAL_REL],
      ['target', EXTERNAL_TARGET],
    ],
    abbr: ['title'],
    audio: [...media, ['controls', true], ['preload', 'none']],
    video: [...media, ['controls', true], ['preload', 'none']],
    code: [['className', /^language-[\w+#.-]{1,40}$/, ...allowedClasses]],
    col: ['span', 'width'],
    colgroup: ['span'],
    details: ['open'],
    img: [...media, 'alt'],
    input: [['type', 'checkbox'], ['disabled', true], 'checked'],
    li: ['value'],
    ol: ['start', 'reversed', ['type', '1', 'a', 'A', 'i', 'I']],
    td: ['align', 'vAlign', 'colSpan', 'rowSpan'],
    th: ['align', 'vAlign', 'colSpan', 'rowSpan', 'scope'],
    time: ['dateTime'],
  },
  protocols: { href: ['http', 'https', 'mailto'], src: ['http', 'https'] },
  required: { input: { type: 'checkbox', disabled: true } },
  ancestors: Object.fromEntries(
    ['caption', 'colgroup', 'col', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td'].map((each) => [each, ['table']]),
  ),
  // `tidyElements` prefixes ids itself: once, however often a text passes.
  clobber: [],
  clobberPrefix: '',
}
