export { consoleDirectory } from './console-directory.js'
export { type ConsolePage, consolePages } from './console-pages.js'
