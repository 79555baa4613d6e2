import { isPerson, type NNumbersOptions, nnumbers } from '@nn-runtime/express';
import express, { type Express } from 'express';
import session from 'express-session';

declare module 'express-session' {
  interface SessionData {
    owner: string;
    cart: string[];
  }
}

/**
 * An application with sessions of its own (a cart) beside the platform's. Its cookie says nothing of who signed in, and stays in the browser when
 * somebody else does: a session belongs to one person, or to nobody, and ends when that changes.
 */
export function createShop(secret: string, options: NNumbersOptions = {}): Express {
  const app = express();
  app.use(nnumbers(options));
  app.use(session({ secret, resave: false, saveUninitialized: false, cookie: { sameSite: 'lax' } }));
  app.use((req, _res, next) => {
    const { identity } = req;
    // By organization and subject: an address or a name can change hands.
    const owner = isPerson(identity) ? `${identity.organization.id} ${identity.subject}` : 'anonymous';
    if (req.session.owner === undefined || req.session.owner === owner) {
      req.session.owner = owner;
      next();
      return;
    }
    req.session.regenerate((error) => {
      req.session.owner = owner;
      next(error);
    });
  });
  app.post('/cart/:item', (req, res) => {
    req.session.cart = [...(req.session.cart ?? []), req.params.item];
    res.json(req.session.cart);
  });
  app.get('/cart', (req, res) => {
    res.json(req.session.cart ?? []);
  });
  return app;
}
