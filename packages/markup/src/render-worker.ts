import { serveTasks } from '@penstock/runtime'
import { renderParts } from './render-parts.ts'

serveTasks(renderParts)
