export { type Outcome as Run, penstock, penstockProcess } from '../command-line.ts'
