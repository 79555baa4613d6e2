'use client';

import {
  createContext,
  createElement,
  type ReactElement,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { getSession, type Organization, onSessionChange, type Session, type SessionUser } from './index.js';

interface Shared {
  /** Asks the platform again. Never rejects: a failure shows as `error`. */
  readonly refresh: () => Promise<void>;
  /** Why the last question failed, one of this package's errors; undefined when it did not. Beside it stands what was known before. */
  readonly error: unknown;
}

/** What {@link useSession} gives, told apart by `status`. */
export type SessionState = Shared &
  (
    | { readonly status: 'loading' | 'error'; readonly user: null; readonly organization: undefined }
    | { readonly status: 'signed-out'; readonly user: null; readonly organization: Organization }
    | { readonly status: 'signed-in'; readonly user: SessionUser; readonly organization: Organization }
  );

/** What {@link SessionProvider} takes. */
export interface SessionProviderProps {
  readonly children?: ReactNode;
  /** The session to begin with, where the server that rendered the page knew it. Default: none, and the status is `loading`. */
  readonly session?: Session | undefined;
}

const SessionContext = createContext<SessionState | undefined>(undefined);

const toState = (session: Session | undefined, error: unknown, refresh: Shared['refresh']): SessionState => {
  const shared = { refresh, error };
  if (!session) {
    return {
      ...shared,
      status: error === undefined ? 'loading' : 'error',
      user: null,
      organization: undefined,
    };
  }
  const { user, organization } = session;
  return user
    ? { ...shared, status: 'signed-in', user, organization }
    : { ...shared, status: 'signed-out', user, organization };
};

/** Asks the platform who is signed in, once it is on the page, and follows every change. On a server it asks nothing. */
export const SessionProvider = ({ children, session: initial }: SessionProviderProps): ReactElement => {
  const [{ session, error }, set] = useState<{ session: Session | undefined; error: unknown }>({
    session: initial,
    error: undefined,
  });
  // What was asked before something newer was shown comes too late: it would bring back who signed out meanwhile.
  const turns = useRef({ asked: 0, shown: 0 });
  const refresh = useCallback(async () => {
    const { current } = turns;
    current.asked += 1;
    const turn = current.asked;
    const isLate = () => {
      if (turn < current.shown) return true;
      current.shown = turn;
      return false;
    };
    try {
      const session = await getSession();
      if (!isLate()) set({ session, error: undefined });
    } catch (error) {
      if (!isLate()) set((before) => ({ ...before, error }));
    }
  }, []);
  useEffect(() => {
    const stop = onSessionChange((session) => {
      const { current } = turns;
      current.asked += 1;
      current.shown = current.asked;
      set({ session, error: undefined });
    });
    void refresh();
    return stop;
  }, [refresh]);
  const state = useMemo(() => toState(session, error, refresh), [session, error, refresh]);
  return createElement(SessionContext.Provider, { value: state }, children);
};

/**
 * Who is signed in, kept up to date.
 *
 * @throws Error when no {@link SessionProvider} is above.
 */
export const useSession = (): SessionState => {
  const state = useContext(SessionContext);
  if (!state) throw new Error('useSession needs a SessionProvider above it');
  return state;
};
