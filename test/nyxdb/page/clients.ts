import { createEndpointClient } from '@nn-runtime/nyxdb';
import { type Implementation, implementation } from '../implementation.js';

export const implementations: readonly Implementation[] = [implementation('Chromium', createEndpointClient)];
