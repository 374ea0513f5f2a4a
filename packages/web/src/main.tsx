import { render } from 'preact'
import { App } from './app/app.tsx'
import { listenToKeys } from './app/keys.ts'
import { beginSession } from './app/session.ts'
import { followLinks } from './location.ts'
import './style/console.css'

followLinks()
listenToKeys()
void beginSession()
render(<App />, document.getElementById('app')!)
