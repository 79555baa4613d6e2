export { type Asset, assets } from './assets.js';
export { home, homeHeaders } from './home.js';
export { customersPerRegion, longQuery } from './queries.js';
