import BridgeRuntime
import ControlProtocol
import Glibc
import LinuxSystem
import NowPlaying
import NowPlayingClient

/// `nowplaying-hooks`: programs of the machine's owner, run at key events.
@PlayerLoop final class HookBridge: Bridge {
    private let context: BridgeContext
    private var settings: HookSettings
    private var hooks: [String: Hook] = [:]
    private var activity: Activity?
    private var server: BridgeServer?
    /// The last known state.
    private var state: StateView?
    /// Reasons why folders are not searched, by folder; each is logged once.
    private var refusedFolders: [String: String] = [:]

    init(_ context: BridgeContext, _ settings: HookSettings) throws(BridgeFailure) {
        self.context = context
        self.settings = settings
        activity = Activity(context.loop, quietTime: settings.quietTime) { [unowned self] event in
            if let state { fire(HookOccasion(event, state, isActive: event == "active-began")) }
        }
        server = try BridgeServer(context.loop, program: "nowplaying-hooks") {
            [unowned self] method, parameters, reply in
            answer(method, parameters, reply)
        }
        context.daemon.onState = { [unowned self] state in take(state) }
        context.daemon.onLoss = { [unowned self] in lost() }
        for problem in list().compactMap({ $0.problem }) { context.log.warning(problem) }
    }

    func reload(_ settings: HookSettings) {
        self.settings = settings
        activity?.setQuietTime(settings.quietTime)
    }

    func end() {
        for hook in hooks.values { hook.end() }
        server = nil
        context.loop.exit(0)
    }

    // MARK: Events

    private func take(_ state: StateView) {
        let changedMode = self.state.flatMap { before in
            RemoteCommand.modes.first { command in
                command.mode.map { before.text($0.key) != state.text($0.key) } ?? false
            }
        }
        self.state = state
        let isPlaying = state.state == .playing
        // The amplifier first: it takes time to start.
        if isPlaying { activity?.sound() }
        fire(
            HookOccasion(
                state.cause, state, isActive: activity?.isActive == true, events: state.causes,
                changedMode: changedMode))
        if !isPlaying { activity?.silence() }
    }

    private func lost() {
        context.log.info("the daemon has ended; waiting for a new one")
        activity?.silence()
        if let state { fire(HookOccasion("daemon-lost", state, isActive: activity?.isActive == true)) }
    }

    private func fire(_ occasion: HookOccasion) {
        for (path, arguments) in targets(occasion) {
            hook(path).fire(occasion, arguments, timeout: settings.timeout)
        }
    }

    /// Programs to run: those of the folders, and those configured for one of the events.
    private func targets(_ occasion: HookOccasion) -> [(path: String, arguments: [String])] {
        var result: [(path: String, arguments: [String])] = []
        if settings.events.map({ !$0.isDisjoint(with: occasion.events) }) ?? true {
            for folder in settings.folders where isTrusted(folder) {
                result += (HookDirectory.paths(in: folder) ?? []).map { ($0, []) }
            }
        }
        for event in occasion.events {
            for command in settings.commands where command.event == event {
                result.append((command.path, command.arguments))
            }
        }
        return result
    }

    private func isTrusted(_ folder: String) -> Bool {
        do throws(HookFile.Refusal) {
            if access(folder, F_OK) != 0, errno == ENOENT { return false }
            try HookFile.judgeFolder(folder)
            refusedFolders[folder] = nil
            return true
        } catch {
            if refusedFolders.updateValue(error.reason, forKey: folder) != error.reason {
                context.log.warning("no hook in \(folder) runs: \(error.reason)")
            }
            return false
        }
    }

    private func hook(_ path: String) -> Hook {
        if let hook = hooks[path] { return hook }
        // Drops all hooks that do not run: their files may no longer exist.
        if hooks.count >= 1000 { hooks = hooks.filter { $0.value.isRunning } }
        let hook = Hook(path, context.loop, context.log)
        hooks[path] = hook
        return hook
    }

    // MARK: The control socket

    private struct Entry {
        var path: String
        var events: [String]
        var arguments: [String]
        var problem: String?
    }

    /// All hooks, each with the reason if it cannot run.
    private func list() -> [Entry] {
        var entries: [Entry] = []
        for folder in settings.folders where isTrusted(folder) {
            entries += (HookDirectory.paths(in: folder) ?? []).map { Entry(path: $0, events: ["*"], arguments: []) }
        }
        for command in settings.commands {
            entries.append(Entry(path: command.path, events: [command.event], arguments: command.arguments))
        }
        for index in entries.indices {
            do throws(HookFile.Refusal) { _ = try HookFile(entries[index].path) } catch {
                entries[index].problem = "the hook \(entries[index].path) does not run: \(error.reason)"
            }
        }
        return entries
    }

    private func answer(_ method: String, _ parameters: JSONValue, _ reply: @escaping BridgeServer.Reply) {
        switch method {
        case "hooks.list":
            let entries = list()
            reply(
                .success([
                    "folders": .array(settings.folders.map { .string($0) }),
                    "hooks": .array(entries.map(json)),
                    "daemon": .bool(context.daemon.isThere),
                ]))
        case "hooks.test": test(parameters, reply)
        default: reply(.failure(BridgeServer.Refusal(code: -32601, message: "unknown method “\(method)”")))
        }
    }

    private func json(_ entry: Entry) -> JSONValue {
        let hook = hooks[entry.path]
        let record = hook?.record(entry.arguments)
        var object = JSONObject([
            .init("path", .string(entry.path)), .init("events", .array(entry.events.map { .string($0) })),
            .init("arguments", .array(entry.arguments.map { .string($0) })),
            .init("running", .bool(hook?.isRunning == true)), .init("runs", .integer(Int64(record?.runs ?? 0))),
        ])
        object["problem"] = entry.problem.map { .string($0) }
        object["last"] = record?.last?.json(withOutput: false)
        return .object(object)
    }

    private func test(_ parameters: JSONValue, _ reply: @escaping BridgeServer.Reply) {
        func refuse(_ code: Int, _ message: String) {
            reply(.failure(BridgeServer.Refusal(code: code, message: message)))
        }
        let name = parameters["name"]?.stringValue ?? ""
        let wanted = parameters["event"]?.stringValue
        let named = list().filter { $0.path == name || $0.path.hasSuffix("/" + name) }
        guard let entry = named.first(where: { wanted == nil || $0.events.contains(wanted!) }) ?? named.first else {
            let names = list().map(\.path).joined(separator: ", ")
            return refuse(
                100, "there is no hook “\(name)”" + (names.isEmpty ? "; there are none" : "; there are \(names)"))
        }
        guard let state, context.daemon.isThere else {
            return refuse(200, "no daemon runs, so there is no state for the hook; start nowplayingd")
        }
        let event = wanted ?? (entry.events.first == "*" ? "snapshot" : entry.events[0])
        guard HookSettings.allEvents.contains(event) else {
            return refuse(
                -32602, "there is no event “\(event)”; there are \(HookSettings.allEvents.joined(separator: ", "))")
        }
        let isActive = event == "active-began" || (event != "active-ended" && activity?.isActive == true)
        let occasion = HookOccasion(event, state, isActive: isActive)
        let begins = hook(entry.path).test(occasion, entry.arguments, timeout: settings.timeout) { result in
            reply(.success(result.json(withOutput: true)))
        }
        if !begins { refuse(200, "the hook is running; try again when it has ended") }
    }
}
