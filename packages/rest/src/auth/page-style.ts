import { Html } from '@penstock/http'

/**
 * The design tokens of the console that these pages use. The pages are self-contained, because the console is another
 * service at another address; page-style.test.ts keeps the values equal to packages/web/src/style/tokens.css.
 */
const tokens = `:root {
color-scheme: light dark;
--bg: light-dark(#f6f8f7, #0e1312);
--surface: light-dark(#ffffff, #141a19);
--sunken: light-dark(#eef2f0, #1a2220);
--hover: light-dark(#f1f5f4, #1d2624);
--line: light-dark(#dfe5e2, #26302d);
--line-strong: light-dark(#7f8b86, #67756f);
--text: light-dark(#141d1a, #e7edeb);
--text-2: light-dark(#46534e, #b0bbb7);
--text-3: light-dark(#5c6964, #8f9c97);
--accent: light-dark(#0b5f70, #63c3d6);
--accent-strong: light-dark(#084a58, #8ad6e5);
--on-accent: light-dark(#ffffff, #07161a);
--focus: light-dark(#0b5f70, #8ad6e5);
--failed-text: light-dark(#b0261c, #ff9486);
--failed-soft: light-dark(#fbe8e5, #3a1c18);
--warning-soft: light-dark(#faefd9, #33260f);
--sans: "Segoe UI Variable Text", "Segoe UI", -apple-system, BlinkMacSystemFont, Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif;
--mono: "SF Mono", "Cascadia Mono", Menlo, Consolas, "Liberation Mono", monospace;
--r-2: 5px;
--r-3: 8px;
--control: 30px;
}
`

const rules = `*, *::before, *::after { box-sizing: border-box }
html { background: var(--bg); color: var(--text); -webkit-text-size-adjust: 100% }
body { margin: 0; font: 400 .8125rem/1.45 var(--sans); font-variant-numeric: tabular-nums }
.page { width: min(440px, 100%); margin: 0 auto; padding: max(16px, 12vh) 16px 32px }
.page.wide { width: min(960px, 100%); padding-top: 24px }
.brand { display: flex; align-items: center; gap: 8px; margin-bottom: 12px; font-weight: 650; font-size: .875rem }
.brand svg { color: var(--accent) }
main { padding: 24px; background: var(--surface); border: 1px solid var(--line); border-radius: var(--r-3) }
h1 { margin: 0 0 16px; font-size: 1.125rem; line-height: 1.25; font-weight: 650; overflow-wrap: anywhere }
h2 { margin: 32px 0 8px; font-size: .875rem; line-height: 1.25; font-weight: 650 }
p, ul { margin: 0 0 12px; overflow-wrap: anywhere }
ul { padding-left: 20px }
li { margin: 4px 0 }
a { color: var(--accent); text-underline-offset: 3px }
code { font-family: var(--mono); font-size: .923em }
form { margin: 0 }
label { display: grid; gap: 3px; font-weight: 500 }
label.check { display: flex; align-items: center; gap: 6px; font-weight: 400 }
input, button, select, textarea { font: inherit; color: inherit }
input:not([type="checkbox"]) { width: 100%; height: 36px; padding: 0 8px; border: 1px solid var(--line-strong); border-radius: var(--r-2); background: var(--surface) }
select, textarea { width: 100%; min-height: 36px; padding: 6px 8px; border: 1px solid var(--line-strong); border-radius: var(--r-2); background: var(--surface) }
textarea { font-family: var(--mono); resize: vertical }
input[readonly] { font-family: var(--mono); background: var(--sunken) }
input[type="checkbox"] { width: 16px; height: 16px; margin: 0; accent-color: var(--accent) }
button { height: var(--control); padding: 0 12px; border: 1px solid var(--line-strong); border-radius: var(--r-2); background: var(--surface); font-weight: 500; cursor: pointer }
button:hover { background: var(--hover) }
main button.primary { height: 36px; background: var(--accent); border-color: var(--accent); color: var(--on-accent) }
main button.primary:hover { background: var(--accent-strong) }
button.other { height: 36px }
button.danger { color: var(--failed-text) }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px }
fieldset { margin: 0 0 12px; padding: 0; border: 0 }
legend { padding: 0; margin-bottom: 6px; font-weight: 500 }
.scopes { display: grid; grid-template-columns: repeat(auto-fill, minmax(190px, 1fr)); gap: 6px 12px }
.hint, .dim { color: var(--text-3); font-size: .75rem; font-weight: 400 }
[role="alert"], .notice { padding: 8px 12px; border-radius: var(--r-2); background: var(--failed-soft) }
.notice { background: var(--warning-soft) }
table { width: 100%; border-collapse: collapse; margin-bottom: 12px }
th, td { padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: middle; font-weight: 400; overflow-wrap: anywhere }
thead th { color: var(--text-3); font-size: .75rem }
tbody th { font-weight: 600 }
.settings td { width: 25% }
.settings td:last-child { width: 1%; white-space: nowrap }
.settings .dim { display: block }
.topics { display: flex; flex-wrap: wrap; gap: 0 16px; padding: 0; list-style: none }
.plain { padding: 0; list-style: none }
.plain > li { display: flex; gap: 4px 12px; justify-content: space-between; align-items: center; flex-wrap: wrap; padding: 6px 0; border-bottom: 1px solid var(--line) }
.plain p { margin: 0 }
@media (max-width: 720px) {
main { padding: 16px }
.page.wide { padding: 12px }
.page { padding-top: 16px }
.opt { display: none }
}
`

/** The style sheet of the pages, with light and dark colours. It needs no font, image or script. */
export const pageStyle = new Html(tokens + rules)

/** The mark of the product. */
export const mark = new Html(
  '<svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true"><path d="M0 14.5h7m8 0h7M0 19.5h7m8 0h7" stroke="currentColor" stroke-width="2"/><path d="M8 1v20M14 1v20" stroke="currentColor" stroke-width="2"/><path d="M9 8.5h4" stroke="currentColor" stroke-width="3"/><path d="M11 2v6" stroke="currentColor" stroke-width="1.6"/></svg>',
)
