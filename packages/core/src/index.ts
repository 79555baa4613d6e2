export {
  ConfigurationError,
  IdentityRejectedError,
  IdentityUnavailableError,
  QueryMeshError,
  QueryMeshRowError,
  RuntimeError,
  SignInRequiredError,
} from './errors.js';
