export { areas } from './areas.ts'
