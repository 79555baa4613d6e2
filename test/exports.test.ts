import t from 'tap';

t.ok(await import('@nn-runtime/core'), 'core has a door');
