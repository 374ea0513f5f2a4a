import { effect } from '@preact/signals'
import { render } from 'preact'
import { App } from './app/app.tsx'
import { keptFilters } from './app/kept-filters.ts'
import { listenToKeys } from './app/keys.ts'
import { beginSession } from './app/session.ts'
import { followLinks, place } from './location.ts'
import './style/console.css'

followLinks()
listenToKeys()
effect(() => keptFilters.remember(place.value))
void beginSession()
render(<App />, document.getElementById('app')!)
