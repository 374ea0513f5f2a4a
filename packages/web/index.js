export { consoleDirectory } from './console-directory.js'
export { consolePages } from './console-pages.js'
