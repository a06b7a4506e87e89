"""MiniStack + what our state machine and tasks need and MiniStack 1.5.33 lacks. Run it instead of `ministack`.

It replaces functions of MiniStack by name and then calls MiniStack's own main(), so pin ministack exactly.
`# AWS:` marks the documented behaviour a part follows; `# differs:` marks where it knowingly does not.
Section by section: 1 execution plumbing, 2 Distributed Map, 3 Task state, 4 ecs:runTask, 5 running an ECS task,
6 CodeBuild, 7 chaos. docs/aws.md says what is MiniStack's, what is ours, and how to check each against real AWS.
"""
import collections, contextvars, copy, decimal, io, json, logging, os, random, shutil, subprocess, tempfile, threading, time, zipfile
from ministack.core.responses import error_response_json, get_account_id, get_region, json_response, new_uuid, now_iso
from ministack.core.concurrency import resource_lock
from ministack.services import codebuild as B, dynamodb as D, ecs as E, s3 as S3, stepfunctions as S

Err = S._ExecutionError
ENDPOINT = os.environ.get("BENCH_CONTAINER_ENDPOINT", "http://172.17.0.1:4566")   # MiniStack as a container sees it
GATEWAY = ENDPOINT.split("//")[1].split(":")[0]
DONE = ("SUCCEEDED", "FAILED", "ABORTED", "TIMED_OUT")
_current = contextvars.ContextVar("execution", default=None)     # the execution this thread works for
_state = contextvars.ContextVar("state", default={})             # the Task state this thread is in


# ---- 1. Executions: abort, timeout, size limit, history ------------------------------------------------------------
class Aborted(Exception):
    """The execution has ended under us. Not an _ExecutionError, so no Retry or Catch can swallow it."""


def check():
    ex = _current.get()
    if ex is not None and ex["status"] in DONE:
        raise Aborted()


def _sleep(seconds):                         # replaces MiniStack's _scaled_sleep: an abort ends a Wait at once
    end = time.time() + seconds * S._SFN_WAIT_SCALE
    while True:
        check()
        left = end - time.time()
        if left <= 0:
            return
        time.sleep(min(left, 0.1))


def finish(ex, status, error=None, cause=None, output=None):
    """Close an execution once; the first verdict stays. True if it was ours to close."""
    with resource_lock("bench-execution", ex["executionArn"]):
        if ex["status"] in DONE:
            return False
        ex.update(status=status, stopDate=now_iso(), error=error, cause=cause)
        if output is not None:
            ex["output"] = output
    kind = {"SUCCEEDED": "Succeeded", "FAILED": "Failed", "ABORTED": "Aborted", "TIMED_OUT": "TimedOut"}[status]
    S._add_event(ex, "Execution" + kind, {f"execution{kind}EventDetails":
                 {"output": output} if status == "SUCCEEDED" else {"error": error or "", "cause": cause or ""}})
    S._emit_execution_status_event(ex)
    return True


S._scaled_sleep = _sleep
S.logger.addFilter(lambda r: not (r.exc_info and r.exc_info[0] is Aborted))      # an abort is no error to log
_fail = S._fail_execution
S._fail_execution = lambda ex, error, cause: None if ex["status"] in DONE else _fail(ex, error, cause)
_run_execution = S._run_execution


def run_execution(arn):
    ex = S._executions.get(arn)
    _current.set(ex)
    try:                                     # AWS: a state machine's TimeoutSeconds ends the execution as TIMED_OUT
        limit = json.loads(S._state_machines.get(ex["stateMachineArn"])["definition"]).get("TimeoutSeconds")
    except Exception:
        limit = None
    timer = threading.Timer(limit, contextvars.copy_context().run, (finish, ex, "TIMED_OUT", "States.Timeout")) if limit and limit < 3e6 else None
    if timer:
        timer.daemon = True
        timer.start()
    try:
        _run_execution(arn)
    finally:
        if timer:
            timer.cancel()


S._run_execution = run_execution


def limited(fn):                             # AWS: 256 KiB of UTF-8 per state output; States.ALL does not catch it
    def run(st, raw, *rest):
        out, nxt = fn(st, raw, *rest)
        if len(json.dumps(out, ensure_ascii=False).encode()) > 262144:
            raise Err("States.DataLimitExceeded", "The state/task returned a result with a size exceeding the maximum number of bytes service limit.")
        return out, nxt
    return run


_matches = S._error_matches


def error_matches(equals, error):
    if error in ("States.DataLimitExceeded", "States.Runtime"):      # AWS: wildcards never catch these two
        return error in equals and error != "States.Runtime"
    if error == "States.HeartbeatTimeout" and "States.Timeout" in equals:    # AWS: a missed heartbeat is a timeout too
        return True
    return _matches(equals, error)


S._error_matches = error_matches


def run_states(states, name, data, execution, ctx):      # replaces _run_sub_machine: adds abort and a child's history
    data = copy.deepcopy(data)
    while name:
        check()
        st = states.get(name)
        if not st:
            raise Err("States.Runtime", f"State '{name}' not found")
        kind = st.get("Type")
        ctx["State"] = {"Name": name, "EnteredTime": now_iso(), "RetryCount": 0}
        S._add_event(execution, f"{kind}StateEntered", {"stateEnteredEventDetails": {"name": name, "input": json.dumps(data)}})
        if kind == "Fail":
            raise Err(*S._fail_state_error(st, data, ctx))
        if kind == "Succeed":
            data, nxt = S._apply_output_path(st, S._apply_input_path(st, data, ctx), ctx), None
        else:
            fn = getattr(S, f"_execute_{kind.lower()}")
            data, nxt = fn(st, data, execution, ctx) if kind in ("Task", "Parallel", "Map") else fn(st, data, ctx)
        S._add_event(execution, f"{kind}StateExited", {"stateExitedEventDetails": {"name": name, "output": json.dumps(data)}})
        name = nxt
    return data


S._run_sub_machine = run_states


# ---- 2. Distributed Map --------------------------------------------------------------------------------------------
# MiniStack reads items (JSON, JSONL, CSV, listObjectsV2) and keeps MapRun records. Ours: the *Path fields, batching,
# early stop when the tolerance is broken, UpdateMapRun that takes effect, aborts, ResultWriter, history events.
MAX_CHILDREN = 1000      # differs: AWS runs up to 10,000 children at once


def number(st, field, raw, eff, ctx, default=0):
    if field + "Path" in st:
        return S._resolve_path_or_ctx(st[field + "Path"], eff, ctx)
    if isinstance(st.get(field), str):       # JSONata expression
        return S._jsonata_state_field(st, field, "number", raw, ctx)
    return st.get(field, default)


def template(value, raw, eff, ctx, jsonata):
    return S._apply_jsonata_template(value, raw, ctx) if jsonata else S._resolve_params_obj(value, eff, ctx)


def read_items(st, raw, eff, ctx, jsonata):
    if "ItemReader" in st:
        rd = dict(st["ItemReader"])
        rd["Parameters"] = template(rd.get("Arguments") or rd.get("Parameters") or {}, raw, eff, ctx, jsonata)
        try:
            items = S._read_map_items(rd, eff, ctx)
        except Err:
            raise
        except Exception as e:               # AWS: a file that cannot be parsed is States.ItemReaderFailed too
            raise Err("States.ItemReaderFailed", f"Attempting to map over non-iterable or unreadable data: {e}")
    elif jsonata and "Items" in st:
        items = S._apply_jsonata_template(st["Items"], raw, ctx)
    else:
        items = S._resolve_path_or_ctx(st.get("ItemsPath", "$"), eff, ctx)
    if isinstance(items, dict):              # AWS: an object becomes its key/value pairs
        items = [{"Key": k, "Value": v} for k, v in items.items()]
    if not isinstance(items, list):
        raise Err("States.ItemReaderFailed" if "ItemReader" in st else "States.Runtime", "Attempting to map over non-iterable data")
    return items


def put_s3(bucket, key, text):
    status, _, body = S3._put_object(bucket, key, text.encode(), {"content-type": "application/json"})
    if status >= 300:
        raise Err("States.ResultWriterFailed", body.decode() if isinstance(body, bytes) else str(body))
    return len(text.encode())


def distributed_map(st, raw, eff, proc, execution, ctx):
    jsonata = S._state_query_language(st, ctx) == "JSONata"
    items = read_items(st, raw, eff, ctx, jsonata)
    sm = execution["stateMachineArn"].split(":")
    name, region, account, label = sm[6].split("/")[0], sm[3], sm[4], st.get("Label") or new_uuid()
    base = f"arn:aws:states:{region}:{account}"
    arn, child_sm = f"{base}:mapRun:{name}/{label}:{new_uuid()}", f"{base}:stateMachine:{name}/{label}"
    has_tol = any(k.startswith("ToleratedFailure") for k in st)

    sel = st.get("ItemSelector") or st.get("Parameters")

    def selected(i, item):
        c = {**ctx, "Map": {"Item": {"Index": i, "Value": item}}}
        return template(sel, raw, eff, c, jsonata) if sel else item
    work = collections.deque()               # (index, child input, number of items, context item)
    batch = st.get("ItemBatcher")
    if batch:
        size = int(number(batch, "MaxItemsPerBatch", raw, eff, ctx) or len(items) or 1)
        extra = {"BatchInput": template(batch["BatchInput"], raw, eff, ctx, jsonata)} if "BatchInput" in batch else {}
        for n, i in enumerate(range(0, len(items), size)):
            part = [selected(i + k, x) for k, x in enumerate(items[i:i + size])]
            work.append((n, {**extra, "Items": part}, len(part), part))
    else:
        work.extend((i, selected(i, x), 1, x) for i, x in enumerate(items))
    total = len(work)
    zero = {k: 0 for k in ("pending", "running", "succeeded", "failed", "timedOut", "aborted", "total", "resultsWritten",
                           "failuresNotRedrivable", "pendingRedrive")}
    run = {"mapRunArn": arn, "executionArn": execution["executionArn"], "status": "RUNNING", "startDate": now_iso(),
           "maxConcurrency": int(number(st, "MaxConcurrency", raw, eff, ctx) or 0),
           "toleratedFailurePercentage": float(number(st, "ToleratedFailurePercentage", raw, eff, ctx) or 0),
           "toleratedFailureCount": int(number(st, "ToleratedFailureCount", raw, eff, ctx) or 0), "redriveCount": 0,
           "itemCounts": dict(zero, total=len(items), pending=len(items)),
           "executionCounts": dict(zero, total=total, pending=total), "_stateMachineArn": child_sm}
    S._map_runs[arn] = run
    S._add_event(execution, "MapStateStarted", {"mapStateStartedEventDetails": {"length": 0 if "ItemReader" in st else len(items)}})
    S._add_event(execution, "MapRunStarted", {"mapRunStartedEventDetails": {"mapRunArn": arn}})
    cond, live, rows = threading.Condition(), {}, [None] * total

    def move(old, new, n):
        for counts, k in ((run["itemCounts"], n), (run["executionCounts"], 1)):
            counts[old] -= k
            counts[new] += k

    def child(i, data, n, item):
        ex = {"executionArn": f"{base}:execution:{name}/{label}:{(cid := new_uuid())}", "stateMachineArn": child_sm, "name": cid,
              "status": "RUNNING", "startDate": now_iso(), "stopDate": None, "input": json.dumps(data), "output": None,
              "inputDetails": {"included": True}, "outputDetails": {"included": True}, "mapRunArn": arn, "events": [],
              "testCase": execution.get("testCase"), "mockAttempts": execution.setdefault("mockAttempts", {})}
        S._executions[ex["executionArn"]] = live[i] = rows[i] = ex
        S._add_event(ex, "ExecutionStarted", {"executionStartedEventDetails": {"input": ex["input"], "roleArn": "arn:aws:iam::%s:role/map" % account}})
        _current.set(ex)
        c = copy.deepcopy({k: v for k, v in ctx.items() if k != "Map"})
        c["Map"] = {"Item": {"Index": i, "Value": item}}
        c["Execution"] = {**c["Execution"], "Id": ex["executionArn"], "Name": cid, "Input": data, "StartTime": ex["startDate"]}
        try:
            finish(ex, "SUCCEEDED", output=json.dumps(run_states(proc["States"], proc["StartAt"], data, ex, c)))
        except Aborted:
            finish(ex, "ABORTED")
        except Err as e:
            finish(ex, "FAILED", e.error, e.cause)
        except Exception as e:
            finish(ex, "FAILED", "States.Runtime", repr(e))
        with cond:
            live.pop(i, None)
            move("running", {"SUCCEEDED": "succeeded", "FAILED": "failed", "ABORTED": "aborted", "TIMED_OUT": "timedOut"}[ex["status"]], n)
            cond.notify_all()

    def broken():                            # the limits are read again each time: UpdateMapRun changes them
        c = run["itemCounts"]
        bad, count, pct = c["failed"] + c["timedOut"], run["toleratedFailureCount"], run["toleratedFailurePercentage"]
        if not bad:
            return False
        return not has_tol and not (count or pct) or (("ToleratedFailureCount" in st or "ToleratedFailureCountPath" in st or count) and bad > count) \
            or (("ToleratedFailurePercentage" in st or "ToleratedFailurePercentagePath" in st or pct) and bad * 100 > pct * len(items))

    verdict = None
    while work or live:
        if verdict is None and execution["status"] in DONE:
            verdict = "ABORTED"
        elif verdict is None and broken():
            verdict = "FAILED"
        if verdict:                          # AWS: running children are stopped, waiting items are never started
            for ex in list(live.values()):
                finish(ex, "ABORTED")
            work.clear()
        with cond:
            while work and not verdict and len(live) < min(run["maxConcurrency"] or MAX_CHILDREN, MAX_CHILDREN):
                i, data, n, item = work.popleft()
                move("pending", "running", n)
                live[i] = {"status": "SUCCEEDED", "executionArn": "-"}       # place holder until the thread has made the record
                threading.Thread(target=contextvars.copy_context().run, args=(child, i, data, n, item), daemon=True).start()
            if live:
                cond.wait(0.2)
    if verdict is None and broken():
        verdict = "FAILED"
    if execution["status"] in DONE:
        verdict = "ABORTED"
    done = [r for r in rows if r]
    result = [json.loads(r["output"]) if r and r["status"] == "SUCCEEDED" else None for r in rows]
    rw = st.get("ResultWriter") or {}
    cfg = rw.get("WriterConfig", {})

    def shape(r):
        if r["status"] == "SUCCEEDED" and cfg.get("Transformation", "NONE") != "NONE":
            return json.loads(r["output"])
        row = {"ExecutionArn": r["executionArn"], "Input": r["input"], "InputDetails": {"Included": True}, "Name": r["name"],
               "StartDate": r["startDate"], "StateMachineArn": child_sm, "Status": r["status"], "StopDate": r["stopDate"], "RedriveCount": 0,
               "RedriveStatus": "NOT_REDRIVABLE" if r["status"] == "SUCCEEDED" else "REDRIVABLE_BY_MAP_RUN"}
        return {**row, **({"Output": r["output"], "OutputDetails": {"Included": True}} if r["output"] is not None else {"Error": r.get("error"), "Cause": r.get("cause")})}

    def rows_of(status):
        out = [shape(r) for r in done if (r["status"] if r["status"] in ("SUCCEEDED", "FAILED") else "FAILED") == status]
        if status == "SUCCEEDED" and cfg.get("Transformation") == "FLATTEN":
            out = [y for x in out for y in (x if isinstance(x, list) else [x])]
        return out
    where = rw.get("Parameters") or rw.get("Arguments")
    if where and verdict != "ABORTED":       # AWS: written for a failed Map Run too
        p = template(where, raw, eff, ctx, jsonata)
        prefix = "/".join(x for x in (p.get("Prefix", "").strip("/"), arn.rsplit(":", 1)[1]) if x)
        lines, files = cfg.get("OutputType", "JSON") == "JSONL", {"FAILED": [], "PENDING": [], "SUCCEEDED": []}
        for status in ("FAILED", "SUCCEEDED"):           # differs: one file each (AWS: up to 5 GB per file), no PENDING file
            if (out := rows_of(status)):
                key = f"{prefix}/{status}_0.json" + ("l" if lines else "")
                size = put_s3(p["Bucket"], key, "\n".join(map(json.dumps, out)) if lines else json.dumps(out))
                files[status].append({"Key": key, "Size": size})
        put_s3(p["Bucket"], f"{prefix}/manifest.json", json.dumps({"DestinationBucket": p["Bucket"], "MapRunArn": arn, "ResultFiles": files}))
        run["itemCounts"]["resultsWritten"], run["executionCounts"]["resultsWritten"] = run["itemCounts"]["succeeded"], len(done)
        result = {"MapRunArn": arn, "ResultWriterDetails": {"Bucket": p["Bucket"], "Key": f"{prefix}/manifest.json"}}
    elif cfg:
        result = rows_of("SUCCEEDED")
    run.update(status=verdict or "SUCCEEDED", stopDate=now_iso())
    if verdict == "ABORTED":
        S._add_event(execution, "MapRunAborted")
        raise Aborted()
    if verdict:
        e = Err("States.ExceedToleratedFailureThreshold", "The specified tolerated failure threshold was exceeded")
        S._add_event(execution, "MapRunFailed", {"mapRunFailedEventDetails": {"error": e.error, "cause": e.cause}})
        raise e
    S._add_event(execution, "MapRunSucceeded")
    S._add_event(execution, "MapStateSucceeded")
    if jsonata:
        output = S._apply_jsonata_output(st, raw, ctx, result=result, default=result)
        S._apply_state_assign(st, raw, ctx, result=result)
        return output, S._next_or_end(st)
    output = S._apply_result_path(st, raw, S._apply_result_selector(st, result))
    return S._apply_output_path(st, output, ctx), S._next_or_end(st)


S._run_distributed_map = distributed_map


# ---- 3. Task state: *Path timeouts, heartbeat, retry delay, abort --------------------------------------------------
_execute_task = S._execute_task


def execute_task(st, raw, execution, ctx):
    st = dict(st)
    eff = raw if S._state_query_language(st, ctx) == "JSONata" else S._apply_input_path(st, raw, ctx)
    for f in ("TimeoutSeconds", "HeartbeatSeconds"):
        if f in st or f + "Path" in st:
            st[f] = number(st, f, raw, eff, ctx)
            st.pop(f + "Path", None)
    token = _state.set(dict(st))
    if st.get("Resource", "").endswith(".sync"):         # we watch these ourselves, so that a timeout also stops the task
        st.pop("TimeoutSeconds", None)
    try:
        return _execute_task(st, raw, execution, ctx)
    finally:
        _state.reset(token)


_retrier = S._find_matching_retrier


def find_retrier(retriers, error, counts):   # AWS: MaxDelaySeconds caps, JitterStrategy FULL draws from [0, delay]
    r, i = _retrier(retriers, error, counts)
    if r is None:
        return r, i
    d = min(r.get("IntervalSeconds", 1) * r.get("BackoffRate", 2.0) ** counts.get(i, 0), r.get("MaxDelaySeconds", 31622400))
    return {**r, "IntervalSeconds": d * (random.random() if r.get("JitterStrategy") == "FULL" else 1), "BackoffRate": 1.0}, i


S._find_matching_retrier = find_retrier      # differs: MiniStack caps every delay at 60 s
_callback, _call_lambda = S._invoke_with_callback, S._call_lambda


def with_callback(resource, data, token, st):
    """waitForTaskToken: MiniStack blocks on an event; a watcher adds the heartbeat and the abort to it."""
    ex, beat, over = _current.get(), st.get("HeartbeatSeconds"), threading.Event()

    def watch():
        t0 = time.time()
        while not over.wait(0.1):
            info = S._task_tokens.get(token)
            if info is None:
                continue
            if info.get("heartbeat"):
                t0, info["heartbeat"] = time.time(), None
            if beat and time.time() - t0 > beat:
                info["error"] = {"Error": "States.HeartbeatTimeout", "Cause": ""}
            elif ex is not None and ex["status"] in DONE:
                info["error"] = {"Error": "States.TaskFailed", "Cause": "aborted"}
            else:
                continue
            info["event"].set()
            return
    threading.Thread(target=contextvars.copy_context().run, args=(watch,), daemon=True).start()
    mark = _state.set({**_state.get(), "_token": token})
    try:
        return _callback(resource, data, token, st)
    finally:
        over.set()
        _state.reset(mark)
        check()


def call_lambda(ref, event):                 # AWS: with waitForTaskToken too, an exception in the function fails the task
    try:
        return _call_lambda(ref, event)
    except Err as e:
        info = S._task_tokens.get(_state.get().get("_token"))
        if info is not None:
            info["error"] = {"Error": e.error, "Cause": e.cause}
            info["event"].set()
        raise


S._invoke_with_callback, S._call_lambda = with_callback, call_lambda
S._execute_task, S._execute_map, S._execute_pass, S._execute_parallel = map(limited, (execute_task, S._execute_map, S._execute_pass, S._execute_parallel))


# ---- 4. ecs:runTask, .sync, .waitForTaskToken ----------------------------------------------------------------------
def pascal(d):
    if isinstance(d, dict):
        return {k[:1].upper() + k[1:]: pascal(v) for k, v in d.items()}
    return [pascal(x) for x in d] if isinstance(d, list) else d


def watch_sync(done, stop):
    """Wait for a .sync task. AWS: a timeout or an abort stops what was started (best effort)."""
    limit, t0 = _state.get().get("TimeoutSeconds"), time.time()
    while not done():
        try:
            check()
        except Aborted:
            stop("Task stopped by AWS Step Functions: execution aborted")
            raise
        if limit and time.time() - t0 > limit:
            stop("Task stopped by AWS Step Functions: task timed out")
            raise Err("States.Timeout", "")
        time.sleep(0.1)


KNOWN = ("ClientException", "InvalidParameterException", "ClusterNotFoundException", "AccessDeniedException", "ServerException",
         "UnsupportedFeatureException", "BlockedException", "PlatformTaskDefinitionIncompatibilityException", "PlatformUnknownException")


def ecs_run_task(resource, inp):
    sync = resource.endswith(".sync")
    data = S._pascal_to_camel(inp)
    if sync:
        data["startedBy"] = "AWS Step Functions"
    status, _, body = E._run_task(data)
    r = json.loads(body)
    if status >= 400:                        # AWS: a modelled error keeps its name, the rest is AmazonECSException
        kind = r.get("__type", "").split("#")[-1]
        raise Err("ECS." + (kind if kind in KNOWN else "AmazonECSException"),
                  f"{r.get('message', '')} (Service: AmazonECS; Status Code: {status}; Error Code: {kind}; Request ID: {new_uuid()}; Proxy: null)")
    if r.get("failures") and (sync or "waitForTaskToken" in _state.get().get("Resource", "")):
        raise Err("AmazonECS.Unknown", json.dumps(pascal(r["failures"])))
    if not sync:
        return pascal(r)
    arn, cluster = r["tasks"][0]["taskArn"], data.get("cluster", "default")
    watch_sync(lambda: E._tasks.get(arn, {}).get("lastStatus") == "STOPPED", lambda why: E._stop_task({"cluster": cluster, "task": arn, "reason": why}))
    t = pascal(json.loads(E._describe_tasks({"cluster": cluster, "tasks": [arn]})[2])["tasks"][0])
    # AWS: States.TaskFailed with the whole task as Cause. Not settled: whether a container that is not essential and
    # exits non-zero fails the state. We take the harder reading (any); BENCH_ECS_SYNC=essential takes the softer one.
    soft = os.environ.get("BENCH_ECS_SYNC") == "essential"
    ess = E._tasks[arn].get("_container_essentials") or []
    codes = [c.get("ExitCode") for k, c in enumerate(t["Containers"]) if not soft or k >= len(ess) or ess[k]]
    if t.get("StopCode") != "EssentialContainerExited" or any(c != 0 for c in codes):
        raise Err("States.TaskFailed", json.dumps(t))
    return t


S._SERVICE_DISPATCH["arn:aws:states:::ecs:runTask"] = ecs_run_task


# ---- 5. One ECS task = containers that share a network namespace ---------------------------------------------------
# MiniStack starts containers one by one on the bridge. Ours: one network namespace (localhost is shared, as awsvpc),
# dependsOn, volumes that live as long as the task, limits, entryPoint/user/..., SIGTERM + stopTimeout, exit codes, events.
HOST_CPUS = os.cpu_count() or 1


def event(task):                             # AWS: "ECS Task State Change" on the default bus
    try:
        from ministack.services import eventbridge
        eventbridge._put_events({"Entries": [{"Source": "aws.ecs", "DetailType": "ECS Task State Change", "Resources": [task["taskArn"]],
                                              "Detail": json.dumps(E._sanitize(task), default=str)}]}, allow_aws_source=True)
    except Exception:
        E.logger.warning("no event for %s", task["taskArn"], exc_info=True)


def ensure_image(client, image):
    """The image's id; an ECR name is fetched from MiniStack's own registry when the daemon does not have it."""
    import docker
    try:
        return client.images.get(image).id
    except docker.errors.ImageNotFound:
        pass
    try:
        host, _, rest = image.partition("/")
        if ".dkr.ecr." in host:
            local = f"127.0.0.1:{os.environ.get('GATEWAY_PORT', '4566')}/{rest}"
            client.images.pull(local) if "@" in rest else client.images.pull(*local.rsplit(":", 1))
            client.images.get(local).tag(image.split("@")[0])
            return client.images.get(local).id
        return client.images.pull(image).id
    except Exception as e:
        raise E._ImagePullError(f"pull image manifest has been retried 1 time(s): failed to resolve ref {image}: {e}")


class Task:
    def __init__(self, task, td, overrides, client):
        # a definition made by CloudFormation keeps PascalCase in nested parts
        td = {**td, "volumes": S._pascal_to_camel(td.get("volumes") or []), "containerDefinitions": [
            {**S._pascal_to_camel(d), "dockerLabels": d.get("dockerLabels", {})} for d in td.get("containerDefinitions", [])]}
        self.task, self.td, self.client, self.ov = task, td, client, overrides
        self.id, self.arn = task["taskArn"].rsplit("/", 1)[-1], task["taskArn"]
        self.defs = td.get("containerDefinitions", [])
        self.box, self.exit, self.logs, self.volumes, self.pause = {}, {}, [], [], None
        self.overall = task.get("overrides") or {}

    def go(self):
        t = self.task
        E._mark_task_pending(self.arn, t), event(t)
        E._mark_task_activating(self.arn, t)
        time.sleep(float(os.environ.get("BENCH_ECS_START_SECONDS", "0")))    # AWS: 20-60 s of placing and pulling
        for i, d in enumerate(self.defs):
            t["containers"][i]["imageDigest"] = ensure_image(self.client, d["image"])
        net = "bridge"
        if len(self.defs) > 1:               # the pause container owns the namespace, as on Fargate
            self.pause = self.client.containers.run("bench-base:pause", detach=True, name=f"ecs-{self.id[:12]}-pause", network=net, labels=self.labels("~pause"))
            net = f"container:{self.pause.id}"
        for v in self.td.get("volumes", []):
            if not (v.get("host") or {}).get("sourcePath"):
                self.volumes.append(self.client.volumes.create(f"ecs-{self.id[:12]}-{v['name']}"))
        waiting, running, deadline = list(range(len(self.defs))), False, time.time() + 600
        fault = self.fault()
        while True:
            if t.get("_stop"):
                return self.end(*t["_stop"])
            if fault and time.time() > fault[0]:
                return self.end(*fault[1])
            for i in list(waiting):
                ready = self.ready(self.defs[i])
                if ready is None:
                    return self.end("Task failed to start", "TaskFailedToStart")
                if ready:
                    self.start(i, net)
                    waiting.remove(i)
            if not waiting and not running:
                running = True
                E._mark_task_running(self.arn, t), event(t)
            for i, c in list(self.box.items()):
                if i not in self.exit and self.state(i) == "exited":
                    if self.defs[i].get("essential", True):
                        return self.end("Essential container in task exited", "EssentialContainerExited")
            if self.box and not waiting and len(self.exit) == len(self.defs):
                return self.end("Essential container in task exited", "EssentialContainerExited")
            if waiting and time.time() > deadline:
                return self.end("Task failed to start", "TaskFailedToStart")
            time.sleep(0.1)

    def ready(self, d):
        """True: start it. False: not yet. None: it never will."""
        names = [x["name"] for x in self.defs]
        for dep in d.get("dependsOn", []):
            i, want = names.index(dep["containerName"]), dep["condition"]
            if i not in self.box:
                return False
            self.state(i)
            over = i in self.exit
            if want in ("COMPLETE", "SUCCESS") and not over:
                return False
            if want == "SUCCESS" and self.exit[i] != 0:
                return None
            if want == "HEALTHY":
                health = (self.box[i].attrs["State"].get("Health") or {}).get("Status")
                if over or health == "unhealthy":
                    return None
                if health != "healthy":
                    return False
        return True

    def state(self, i):
        c = self.box[i]
        if i in self.exit:
            return "exited"
        c.reload()
        if c.status in ("exited", "dead"):
            s, rec = c.attrs["State"], self.task["containers"][i]
            self.exit[i] = s["ExitCode"]
            rec.update(lastStatus="STOPPED", exitCode=s["ExitCode"])
            if s.get("OOMKilled"):
                rec["reason"] = "OutOfMemoryError: Container killed due to memory usage"
            return "exited"
        return c.status

    def labels(self, name):
        return {**E.container_reaper.own_labels("ecs"), "com.amazonaws.ecs.task-arn": self.arn, "com.amazonaws.ecs.container-name": name}

    def start(self, i, net):
        d, t = dict(self.defs[i]), self.task
        ov = E._container_override_for(self.ov, d["name"])
        env = {e["name"]: e["value"] for e in d.get("environment", [])}
        env.update(E._resolve_container_secrets(d))
        env.update({e["name"]: e["value"] for e in ov.get("environment", [])})
        if "command" in ov:
            d["command"] = ov["command"]
        own = env.get("AWS_ENDPOINT_URL")
        meta = E._register_metadata(self.arn, t["clusterArn"], self.td, d, t.get("launchType", "FARGATE"), env, False, GATEWAY)
        t.setdefault("_metadata_tokens", []).append(meta)
        # differs: static keys instead of the task role's rotating ones (SDKs refuse a credentials URI that is not loopback or https)
        for k in ("AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN"):
            env.pop(k, None)
        env.update(AWS_ENDPOINT_URL=own or ENDPOINT, AWS_EXECUTION_ENV="AWS_ECS_FARGATE")
        for k, v in (("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test"), ("AWS_REGION", get_region()), ("AWS_DEFAULT_REGION", get_region())):
            env.setdefault(k, v)
        kw = E._build_run_kwargs(d, self.td, env, {}, None, False, self.id, self.arn, GATEWAY, t["clusterArn"])
        for k in ("platform", "network", "ports", "volumes"):        # differs: an ARM64 definition runs on this machine's architecture
            kw.pop(k, None)
        lp = d.get("linuxParameters") or {}
        mem = ov.get("memory") or d.get("memory") or self.overall.get("memory") or self.td.get("memory")
        cpu = ov.get("cpu") or d.get("cpu") or self.overall.get("cpu") or self.td.get("cpu")
        kw.update(name=f"ecs-{self.id[:12]}-{d['name']}", network_mode=net, labels=self.labels(d["name"]), init=bool(lp.get("initProcessEnabled")),
                  entrypoint=d.get("entryPoint"), user=d.get("user"), working_dir=d.get("workingDirectory"), read_only=bool(d.get("readonlyRootFilesystem")))
        if mem:
            kw["mem_limit"] = kw["memswap_limit"] = f"{int(mem)}m"
        if cpu and int(cpu):
            kw["nano_cpus"] = int(min(HOST_CPUS, int(cpu) / 1024) * 1e9)
        if (h := d.get("healthCheck")):
            kw["healthcheck"] = {"test": h["command"] if h["command"][0] in ("CMD", "CMD-SHELL", "NONE") else ["CMD-SHELL", *h["command"]], "retries": h.get("retries", 3),
                                 **{k: int(h.get(f, v) * 1e9) for k, f, v in (("interval", "interval", 30), ("timeout", "timeout", 5), ("start_period", "startPeriod", 0))}}
        vols = {v["name"]: (v.get("host") or {}).get("sourcePath") or f"ecs-{self.id[:12]}-{v['name']}" for v in self.td.get("volumes", [])}
        binds = [f"{vols[m['sourceVolume']]}:{m['containerPath']}:{'ro' if m.get('readOnly') else 'rw'}" for m in d.get("mountPoints", []) if m.get("sourceVolume") in vols]
        if binds:
            kw["volumes"] = binds
        c = self.client.containers.run(self.task["containers"][i]["imageDigest"], **{k: v for k, v in kw.items() if v is not None})
        self.box[i] = c
        t["containers"][i].update(lastStatus="RUNNING", runtimeId=c.id[:12])
        E.ecs_metadata.set_docker_id(meta, c.id), E.ecs_metadata.set_container_status(meta, "RUNNING")
        if (cfg := E._awslogs_config(d, self.id, c.id)):
            th = threading.Thread(target=E._forward_awslogs, args=(c, cfg, get_account_id(), cfg["region"] or get_region()), daemon=True)
            th.start()
            self.logs.append(th)

    def end(self, reason, code):
        """AWS: SIGTERM to every container that still runs, SIGKILL after its stopTimeout (30 s by default, 120 s at most)."""
        t = self.task
        t["desiredStatus"], t["stoppingAt"] = "STOPPED", t.get("stoppingAt") or E._iso()
        left = [i for i in reversed(list(self.box)) if self.state(i) != "exited"]

        def stop(i):
            try:
                self.box[i].stop(timeout=min(120, int(self.defs[i].get("stopTimeout", 30))))
                self.state(i)
            except Exception:
                E.logger.warning("stop of %s failed", self.box[i].name, exc_info=True)
        stoppers = [threading.Thread(target=stop, args=(i,)) for i in left]
        [x.start() for x in stoppers], [x.join() for x in stoppers]
        [x.join(5) for x in self.logs]
        for c in [*self.box.values(), self.pause]:
            if c is not None:
                try:
                    c.remove(force=True, v=True)
                except Exception:
                    pass
        for v in self.volumes:
            try:
                v.remove(force=True)
            except Exception:
                pass
        for tok in t.pop("_metadata_tokens", None) or []:
            E.ecs_metadata.unregister_token(tok)
        t.setdefault("_metadata_tokens", [])
        if code == "TaskFailedToStart":      # AWS: no ExitCode key then
            for c in t["containers"]:
                c.pop("exitCode", None)
        E._mark_task_stopped(self.arn, t, reason, code)
        event(t)

    def fault(self):                         # section 7: a Spot interruption a few seconds after the start
        for d in self.defs:
            for e in [*d.get("environment", []), *E._container_override_for(self.ov, d["name"]).get("environment", [])]:
                if e["name"] == "BENCH_FAULT" and e["value"].startswith("spot:"):
                    return time.time() + float(e["value"][5:]), ("Your Spot Task was interrupted.", "SpotInterruption")
        return None


_worker, _stop_task, _active, _maybe = E._run_task_worker, E._stop_task, E._task_is_active, E._maybe_mark_stopped


def run_worker(task, td, overrides, client, account_id, region):
    if str(task.get("group", "")).startswith("service:"):            # services stay MiniStack's
        return _worker(task, td, overrides, client, account_id, region)
    task["_bench"] = True
    with E.request_scope(account_id, region):
        run = Task(task, td, overrides, client)
        try:
            run.go()
        except E._ImagePullError as e:
            run.end("CannotPullContainerError: " + str(e), "TaskFailedToStart")
        except E._SecretResolutionError as e:
            run.end(f"ResourceInitializationError: unable to pull secrets or registry auth: {e}", "TaskFailedToStart")
        except Exception as e:
            E.logger.warning("task %s", task["taskArn"], exc_info=True)
            run.end(f"CannotStartContainerError: {e}", "TaskFailedToStart")


def stop_task(data):                         # AWS: returns at once, desiredStatus STOPPED; the task stops by itself
    cluster = E._resolve_cluster_name(data.get("cluster", "default"))
    task = E._resolve_task(data.get("task", ""), cluster) if cluster else None
    if not task or not task.get("_bench"):
        return _stop_task(data)
    if task["lastStatus"] != "STOPPED":
        task["desiredStatus"] = "STOPPED"
        task.setdefault("_stop", (data.get("reason", "Task stopped by user"), "UserInitiated"))
    return json_response({"task": E._sanitize(task)})


E._run_task_worker, E._stop_task = run_worker, stop_task
E._task_is_active = lambda arn, t: (t.get("lastStatus") != "STOPPED" and E._tasks.get(arn) is t) if t.get("_bench") else _active(arn, t)
E._maybe_mark_stopped = lambda t, c=None: None if t.get("_bench") else _maybe(t, c)
if "StopTask" in E._ACTION_MAP:
    E._ACTION_MAP["StopTask"] = stop_task


# ---- 6. CodeBuild: the buildspec's commands, run on this machine by bash -------------------------------------------
# MiniStack wants AWS's local-agent image. Ours runs the phases as a host process with the docker daemon at hand.
# differs: host tools instead of the build image; `docker push|pull|login` for an ECR name goes to MiniStack's registry.
DOCKER_WRAPPER = r'''#!/bin/bash
# docker, with ECR host names sent to the emulator's registry: no DNS and no TLS exist for them here
real=%(docker)s; reg=127.0.0.1:%(port)s
case "$1" in
  login|logout) cat >/dev/null 2>&1 </dev/null; echo "Login Succeeded (emulator)"; exit 0;;
  push) img="${@: -1}"; case "$img" in *.dkr.ecr.*/*) l="$reg/${img#*/}"; "$real" tag "$img" "$l" && exec "$real" push "${@:2:$#-2}" "$l";; esac;;
  pull) img="${@: -1}"; case "$img" in *.dkr.ecr.*/*) l="$reg/${img#*/}"; "$real" pull "${@:2:$#-2}" "$l" && exec "$real" tag "$l" "$img";; esac;;
esac
exec "$real" "$@"
'''
AWS_STUB = '#!/bin/bash\ncase "$*" in *"ecr get-login-password"*) echo emulator;; *) exec python3 -m awscli "$@";; esac\n'


def start_build(data):
    name = data.get("projectName", "")
    project = copy.deepcopy(B._projects.get(name))
    if project is None:
        return error_response_json("ResourceNotFoundException", f"Project cannot be found: {name}", 400)
    src = project.setdefault("source", {})
    for k, f in (("sourceTypeOverride", "type"), ("sourceLocationOverride", "location"), ("buildspecOverride", "buildspec")):
        if k in data:
            src[f] = data[k]
    env = project.setdefault("environment", {})
    for k, f in (("imageOverride", "image"), ("privilegedModeOverride", "privilegedMode"), ("computeTypeOverride", "computeType")):
        if k in data:
            env[f] = data[k]
    names = {v["name"] for v in data.get("environmentVariablesOverride", [])}
    env["environmentVariables"] = [v for v in env.get("environmentVariables") or [] if v["name"] not in names] + data.get("environmentVariablesOverride", [])
    if "timeoutInMinutesOverride" in data:
        project["timeoutInMinutes"] = data["timeoutInMinutesOverride"]
    bid = B._build_id(name)
    build = B._make_build_record(project, bid, data.get("sourceVersion"))
    build.pop("endTime", None)
    build.update(buildStatus="IN_PROGRESS", currentPhase="SUBMITTED", buildComplete=False, phases=[])
    B._builds[bid] = build
    threading.Thread(target=contextvars.copy_context().run, args=(build_worker, build, project), daemon=True).start()
    return json_response({"build": copy.deepcopy(build)})


def build_worker(build, project):
    import yaml
    root, status, emit = tempfile.mkdtemp(prefix="codebuild-"), "FAILED", B._log_sink(build)
    try:
        src, work, tools = project.get("source", {}), os.path.join(root, "src"), os.path.join(root, "bin")
        os.makedirs(work), os.makedirs(tools)
        if src.get("type") == "S3":
            bucket, key = src["location"].replace("arn:aws:s3:::", "").split("/", 1)
            code, _, body = S3._get_object(bucket, key, {})
            if code != 200:
                raise RuntimeError(f"DOWNLOAD_SOURCE: {src['location']} not found")
            if key.endswith("/"):
                raise RuntimeError("DOWNLOAD_SOURCE: give a .zip")
            with zipfile.ZipFile(io.BytesIO(body)) as z:
                for info in z.infolist():                # keep the executable bits, which extractall drops
                    out = z.extract(info, work)
                    if (mode := info.external_attr >> 16 & 0o777) and not info.is_dir():
                        os.chmod(out, mode)
        spec = src.get("buildspec") or ""
        if "\n" not in spec and not spec.strip().startswith("{") and "version" not in spec:
            with open(os.path.join(work, spec or "buildspec.yml")) as f:
                spec = f.read()
        spec = yaml.safe_load(spec)
        for name, text in (("docker", DOCKER_WRAPPER % {"docker": next((p for p in ("/usr/bin/docker",) if os.path.exists(p)), shutil.which("docker")), "port": os.environ.get("GATEWAY_PORT", "4566")}), ("aws", AWS_STUB)):
            with open(os.path.join(tools, name), "w") as f:
                f.write(text)
            os.chmod(os.path.join(tools, name), 0o755)
        env = {**os.environ, "PATH": tools + ":" + os.environ["PATH"], "HOME": root, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{os.environ.get('GATEWAY_PORT', '4566')}",
               "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": get_region(), "AWS_DEFAULT_REGION": get_region(), "DOCKER_BUILDKIT": "0",
               "CODEBUILD_BUILD_ID": build["id"], "CODEBUILD_BUILD_ARN": build["arn"], "CODEBUILD_SRC_DIR": work, "CODEBUILD_BUILD_SUCCEEDING": "1"}
        env.update({str(k): str(v) for k, v in ((spec.get("env") or {}).get("variables") or {}).items()})
        env.update({v["name"]: v.get("value", "") for v in project["environment"]["environmentVariables"] if v.get("type", "PLAINTEXT") == "PLAINTEXT"})
        end, ok, keep = time.time() + B._timeout_seconds(project), True, os.path.join(root, "env.sh")
        open(keep, "w").close()
        for phase in ("install", "pre_build", "build", "post_build"):
            cmds = ((spec.get("phases") or {}).get(phase) or {}).get("commands") or []
            if not cmds or (not ok and not (phase == "post_build" and failed_in == "build")):   # AWS: post_build runs after a failed build
                continue
            build["currentPhase"] = phase.upper()
            script = "\n".join([f"cd {work}; set -a; . {keep}; set +a", *(f"{c} || exit $?" if "\n" not in c else f"{{ {c}\n}} || exit $?" for c in map(str, cmds)), f"export -p >{keep}"])
            p = subprocess.Popen(["bash", "-c", script], env={**env, "CODEBUILD_BUILD_SUCCEEDING": str(int(ok))}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)

            def guard(p=p):
                while p.poll() is None:
                    if build["buildStatus"] == "STOPPED" or time.time() > end:
                        os.killpg(p.pid, 15)
                        return
                    time.sleep(0.2)
            threading.Thread(target=guard, daemon=True).start()
            for line in p.stdout:
                emit(line.rstrip("\n"))
            good = p.wait() == 0
            emit(f"[Container] Phase complete: {phase.upper()} State: {'SUCCEEDED' if good else 'FAILED'}")
            B._record_phase(build, phase.upper(), "SUCCEEDED" if good else "FAILED")
            if not good and ok:
                ok, failed_in = False, phase
        status = "TIMED_OUT" if time.time() > end else "SUCCEEDED" if ok else "FAILED"
    except Exception as e:
        emit(f"[Container] {e}")
        B.logger.warning("build %s", build["id"], exc_info=True)
    finally:
        shutil.rmtree(root, ignore_errors=True)
        if build["buildStatus"] != "STOPPED":
            B._finish_build(build, status)
        build["buildComplete"] = True


def codebuild_start(resource, inp):
    code, _, body = start_build(S._pascal_to_camel(inp))
    r = json.loads(body)
    if code >= 400:
        raise Err("CodeBuild." + r.get("__type", "AWSCodeBuildException").split("#")[-1], r.get("message", ""))
    if resource.endswith(".sync"):
        build = B._builds[r["build"]["id"]]
        watch_sync(lambda: build["buildStatus"] != "IN_PROGRESS" and build.get("buildComplete"), lambda why: B._stop_build({"id": build["id"]}))
        r = {"build": build}
        if build["buildStatus"] != "SUCCEEDED":
            raise Err("States.TaskFailed", json.dumps(pascal(r)["Build"]))
    return pascal(copy.deepcopy(r))


B._start_build = start_build
S._SERVICE_DISPATCH["arn:aws:states:::codebuild:startBuild"] = codebuild_start


# ---- 6b. DynamoDB --------------------------------------------------------------------------------------------------
# AWS: numbers keep 38 digits. Python's default of 28 would round a sum of larger ones.
decimal.DefaultContext.prec = 38
decimal.getcontext().prec = 38
_condition = D._evaluate_condition


def condition(expr, *a, **k):                # AWS: conditions have no arithmetic; MiniStack took "a + :b <= :c" as true
    if expr and ("+" in expr or "-" in expr):
        raise ValueError("Invalid ConditionExpression: Syntax error; token: \"%s\", near: \"%s\"" % ("+" if "+" in expr else "-", expr[:40]))
    return _condition(expr, *a, **k)


D._evaluate_condition = condition


# ---- 6c. Lambda ----------------------------------------------------------------------------------------------------
from ministack.services import lambda_svc as L                       # noqa: E402
_warm = L._execute_function_warm


def warm(*a, **k):
    """AWS: errorType is the exception's name and trace its stack; MiniStack says Runtime.HandlerError for all."""
    r = _warm(*a, **k)
    body = r.get("body")
    if r.get("error") and isinstance(body, dict) and body.get("errorType") == "Runtime.HandlerError":
        msg = body["errorMessage"].split("\n")[0]
        for n, line in enumerate(lines := (r.get("log") or "").split("\n")):
            kind, sep, rest = line.partition(": ")
            if sep and rest == msg and kind.replace(".", "").replace("_", "").isalnum():
                body.update(errorType=kind, trace=lines[n:n + 12])
                break
    return r


L._execute_function_warm = warm


# ---- 7. Chaos: throttled or refused launches -----------------------------------------------------------------------
# BENCH_ECS_RATE="20/20" in the emulator's environment: RunTask calls per second / burst, then ThrottlingException.
# BENCH_FAULT in a container's environment (task definition or override): spot:SECONDS | throttle:N | capacity:N
# (the first N launches of that task definition and group are refused).
_run_task, _bucket, _refused = E._run_task, [None, 0.0], collections.Counter()
_lock = threading.Lock()


def run_task(data):
    rate = os.environ.get("BENCH_ECS_RATE")
    fault = None
    td = E._task_defs.get(E._resolve_td_key(data.get("taskDefinition", ""))) or {}
    for d in [*td.get("containerDefinitions", []), *(data.get("overrides") or {}).get("containerOverrides", [])]:
        fault = next((e["value"] for e in d.get("environment", []) if e["name"] == "BENCH_FAULT"), fault)
    with _lock:
        if rate:
            per, burst = map(float, rate.split("/"))
            now = time.time()
            _bucket[1] = min(burst, _bucket[1] + (now - _bucket[0]) * per) if _bucket[0] else burst
            _bucket[0] = now
            if _bucket[1] < 1:
                return error_response_json("ThrottlingException", "Rate exceeded", 400)
            _bucket[1] -= 1
        if fault and fault.split(":")[0] in ("throttle", "capacity"):
            kind, n = fault.split(":")
            key = (td.get("taskDefinitionArn"), data.get("group"), kind)
            if _refused[key] < int(n):
                _refused[key] += 1
                if kind == "throttle":
                    return error_response_json("ThrottlingException", "Rate exceeded", 400)
                return json_response({"tasks": [], "failures": [{"reason": "Capacity is unavailable at this time. Please try again later or in a different availability zone"}]})
    size = len(json.dumps(data.get("overrides") or {}, separators=(",", ":")))
    if size > 8192:                          # AWS: all overrides together, JSON punctuation included
        return error_response_json("InvalidParameterException", f"Container Overrides length must be at most 8192 (was {size})", 400)
    return _run_task(data)


E._run_task = run_task
if "RunTask" in E._ACTION_MAP:
    E._ACTION_MAP["RunTask"] = run_task

if __name__ == "__main__":
    from ministack.app import main
    main()
