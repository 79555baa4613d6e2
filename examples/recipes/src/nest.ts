import 'reflect-metadata';
import {
  type ArgumentsHost,
  type CanActivate,
  Catch,
  Controller,
  createParamDecorator,
  type DynamicModule,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  type INestApplication,
  Inject,
  Injectable,
  Module,
  type OnApplicationShutdown,
  UseGuards,
} from '@nestjs/common';
import { APP_FILTER, HttpAdapterHost, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  assertPerson,
  createRuntime,
  httpAnswerOf,
  type Identity,
  type QueryMesh,
  type Runtime,
  RuntimeError,
  type RuntimeOptions,
} from '@nn-runtime/core';
import { nnumbers } from '@nn-runtime/express';
import nnumbersPlugin from '@nn-runtime/fastify';

/** What both adapters put on a request. */
interface IdentifiedRequest {
  readonly identity: Identity;
  readonly queryMesh: QueryMesh;
}

const requestOf = (context: ArgumentsHost): IdentifiedRequest =>
  context.switchToHttp().getRequest<IdentifiedRequest>();

/** `@CurrentIdentity()`: who the request is from. */
const CurrentIdentity = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => requestOf(context).identity,
);

/** `@Queries()`: the request's queryMesh. */
const Queries = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => requestOf(context).queryMesh,
);

/** `@UseGuards(PersonGuard)`: 401 USER_SESSION_REQUIRED for an anonymous request. */
@Injectable()
class PersonGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    assertPerson(requestOf(context).identity);
    return true;
  }
}

/** Nest answers 500 to errors it does not know: these carry their own answer. */
@Catch(RuntimeError)
class RuntimeErrorFilter implements ExceptionFilter<RuntimeError> {
  readonly #host: HttpAdapterHost;

  constructor(@Inject(HttpAdapterHost) host: HttpAdapterHost) {
    this.#host = host;
  }

  catch(error: RuntimeError, context: ArgumentsHost): void {
    const { statusCode, headers, body } = httpAnswerOf(error);
    const { httpAdapter } = this.#host;
    const response: unknown = context.switchToHttp().getResponse();
    for (const [name, value] of Object.entries(headers)) httpAdapter.setHeader(response, name, value);
    httpAdapter.reply(response, body, statusCode);
  }
}

@Controller()
class NationsController {
  @Get('me')
  me(@CurrentIdentity() identity: Identity): Identity {
    return identity;
  }

  @Get('nations')
  @UseGuards(PersonGuard)
  nations(@Queries() queryMesh: QueryMesh): Promise<unknown> {
    return queryMesh('SELECT name, regionkey FROM tpch.tiny.nation');
  }
}

/** What the runtime is provided under. */
export const RUNTIME = Symbol('nn-runtime');

@Module({})
class AppModule implements OnApplicationShutdown {
  readonly #runtime: Runtime;

  constructor(@Inject(RUNTIME) runtime: Runtime) {
    this.#runtime = runtime;
  }

  onApplicationShutdown(): Promise<void> {
    return this.#runtime.close();
  }

  static with(options: RuntimeOptions): DynamicModule {
    return {
      module: AppModule,
      controllers: [NationsController],
      providers: [
        { provide: RUNTIME, useFactory: () => createRuntime(options) },
        { provide: APP_FILTER, useClass: RuntimeErrorFilter },
      ],
    };
  }
}

/** Nest on Express: the middleware comes first of all. */
export async function createNestOnExpress(options: RuntimeOptions = {}): Promise<INestApplication> {
  const app = await NestFactory.create(AppModule.with(options), { logger: false });
  app.use(nnumbers({ runtime: app.get<Runtime>(RUNTIME) }));
  return app;
}

/** Nest on Fastify: the plugin is registered before Nest's routes are, that is before `init` or `listen`. */
export async function createNestOnFastify(options: RuntimeOptions = {}): Promise<NestFastifyApplication> {
  const module = AppModule.with(options);
  const app = await NestFactory.create<NestFastifyApplication>(module, new FastifyAdapter(), {
    logger: false,
  });
  await app.register(nnumbersPlugin, { runtime: app.get<Runtime>(RUNTIME) });
  return app;
}
