/**
 * The classes that rendered text may have. An author who could use any class could give text the look of a part of
 * the page, or let it cover the page.
 */
export const allowedClasses: readonly string[] = [
  // Markdown
  'anchor footnote-ref footnotes footnotes-list footnotes-sep footnote-item footnote-backref task-list',
  'task-list-item task-list-item-checkbox',
  // AsciiDoc
  'toc sect0 sect1 sect2 sect3 sect4 sect5 sectionbody paragraph lead title content ulist olist dlist qlist',
  'hdlist hdlist1 hdlist2 colist checklist arabic loweralpha upperalpha lowerroman upperroman conum',
  'horizontal listingblock literalblock highlight nowrap exampleblock sidebarblock quoteblock verseblock',
  'attribution openblock admonitionblock note tip warning important caution icon imageblock image videoblock',
  'audioblock tableblock halign-left halign-center halign-right valign-top valign-middle valign-bottom',
  'underline line-through overline keyseq button menu menuseq bare footnote stemblock',
  // Org
  'section math-inline math-display todo done tag example verse',
].flatMap((names) => names.split(' '))
