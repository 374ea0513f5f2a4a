import { serveTasks } from '@penstock/runtime'
import { documentParts } from './document-parts.ts'

serveTasks(documentParts)
