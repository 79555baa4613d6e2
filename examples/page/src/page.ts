import { follow } from './fills.js';
import { identityPanel } from './identity.js';
import { longQuery } from './long-query.js';
import { nationsPanel } from './nations.js';
import { regionsPanel } from './regions.js';
import { watchSession } from './session.js';

// Every part shows one person's data: it starts when somebody is signed in, and is emptied when they are not any more.
watchSession([identityPanel(), follow(), nationsPanel(), regionsPanel(), longQuery()]);
