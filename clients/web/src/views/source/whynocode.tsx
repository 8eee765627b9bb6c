// Why a function has no instructions here, in the daemon's words: the sentence, then what is known of its binary.
import { ModuleState, ProfileModulesRequest, type ProfileModule } from "../../../../shared/ts/psp.js";
import { shown } from "../../draw/shown.js";
import { isComposed } from "../../state/compared.js";
import { Empty, Name } from "../../ui/bits.js";
import { useAnswer, useApp, useProfile } from "../../ui/context.js";
import type { CodePage } from "./code.js";

const MOST_MODULES = 3;

/** The binary that is meant where that is known, else those of which something is missing, costliest first. */
export function modulesMeant(modules: readonly ProfileModule[], module: string | undefined): readonly ProfileModule[] {
  const own = modules.filter(({ name, path }) => module !== undefined && (name === module || path === module));
  if (own.length > 0) return own.slice(0, 1);
  return modules.filter(({ state }) => state !== ModuleState.full).slice(0, MOST_MODULES);
}

/** A sentence with commands in it. */
function Sentence({ text }: { text: string }) {
  return <>{text.split("`").map((part, i) => (i % 2 === 1 ? <code key={i}>{shown(part)}</code> : shown(part)))}</>;
}

export function WhyNoCode({ head, problem, module }: { head: CodePage | undefined; problem: string; module: string }) {
  const app = useApp();
  const profile = useProfile();
  const answer = useAnswer(
    ProfileModulesRequest,
    profile === undefined || isComposed(profile.uri) || !app.can(ProfileModulesRequest.method)
      ? undefined
      : { profile: profile.handle },
  );
  const piece = head?.pieces[head.piece];
  const modules = modulesMeant(answer.value?.modules ?? [], piece?.module ?? (module === "" ? undefined : module));
  const sentence = problem.slice(0, 1).toUpperCase() + problem.slice(1);
  return (
    <Empty title="No instructions">
      <p class="asm-why">
        <Sentence text={/[.!?]$/.test(sentence) ? sentence : `${sentence}.`} />
      </p>
      {modules.map(({ name, path, amount, reason, remedy }) => (
        <div key={path} class="asm-module">
          <p>
            <Name text={name} /> <span class="muted">{amount.shareText ?? amount.text}</span>
          </p>
          {reason !== undefined && (
            <p>
              <Sentence text={reason} />
            </p>
          )}
          {remedy !== undefined && (
            <p class="asm-remedy">
              <Sentence text={remedy} />
            </p>
          )}
        </div>
      ))}
    </Empty>
  );
}
