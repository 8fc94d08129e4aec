import ArgumentParser
import Foundation

/// The options that stand in a file, `fieldwork.toml`, and in the environment. What the command line says comes first, then the
/// environment, then the file.
///
/// Options of a verb stand in the table of its name, or in variables such as `FIELDWORK_SERVE_PORT`. `data` and `store`
/// hold for every verb that has them.
enum Configuration {
    /// An option with the place where it was set.
    struct Setting: Equatable {
        var option: String
        var values: [String]
        /// The line of the file, or the variable.
        var place: String
    }

    static let prefix = "FIELDWORK_"
    /// What holds for every verb.
    private static let shared = ["data", "store"]
    private static let systemFile = "/etc/fieldwork/fieldwork.toml"
    private static let fileName = "fieldwork.toml"
    private static let bytesMax = 1 << 20

    // MARK: The file

    /// The file that is read: the one that was named, else one in the working folder, else the system's.
    static func file(
        _ arguments: [String], _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String? {
        if let named = value(of: "config", in: arguments) ?? environment[prefix + "CONFIG"] { return named }
        return [fileName, systemFile].first { FileManager.default.fileExists(atPath: $0) }
    }

    static func entries(of path: String) throws -> [TOMLReader.Entry] {
        let url = URL(filePath: (path as NSString).expandingTildeInPath)
        guard let handle = try? FileHandle(forReadingFrom: url), let bytes = try? handle.read(upToCount: bytesMax),
            let text = String(validating: bytes, as: UTF8.self)
        else { throw CommandFailure(.noInput, "\(url.path) is not there, or can't be read as text.") }
        do {
            return try TOMLReader.read(text)
        } catch {
            throw CommandFailure(.badData, "\(path):\(error.line): \(error.reason).")
        }
    }

    // MARK: Applying

    /// The arguments with the options that were set elsewhere.
    static func applied(
        to arguments: [String], _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> [String] {
        let file = file(arguments, environment)
        let mayBeSet = environment.keys.contains { $0.hasPrefix(prefix) }
        guard file != nil || mayBeSet else { return arguments }
        let tree = try CommandTree.read()
        let (verb, path) = tree.verb(of: arguments)
        // A question about a verb needs no settings, and must be answered also where they are wrong.
        guard !path.isEmpty, path.first != "config", !arguments.contains("--help"), !arguments.contains("-h") else {
            return arguments
        }
        let settings = try settings(of: verb, path, tree, file, environment)
        let rest = Array(arguments.dropFirst(path.count))
        let added = settings.filter { setting in
            let rivals = shared.contains(setting.option) ? shared : [setting.option]
            return !rivals.contains { isGiven($0, in: rest) }
        }
        return path + added.flatMap { words($0, verb) } + rest
    }

    private static func words(_ setting: Setting, _ verb: CommandTree) -> [String] {
        if verb.option(setting.option)?.kind == .flag {
            return setting.values == ["true"] ? ["--\(setting.option)"] : []
        }
        return setting.values.map { "--\(setting.option)=\($0)" }
    }

    /// What is set for a verb, by the environment and by the file.
    static func settings(
        of verb: CommandTree, _ path: [String], _ tree: CommandTree, _ file: String?, _ environment: [String: String]
    ) throws -> [Setting] {
        var settings = try file.map { try read($0, for: verb, path, tree) } ?? []
        for (key, value) in environment.sorted(by: { $0.key < $1.key }) where key.hasPrefix(prefix) {
            let names = variables(path)
            guard let (name, _) = names(verb).first(where: { $0.variable == key }) else { continue }
            // An environment has no arrays: a comma stands between several values.
            let isRepeating = verb.option(name)?.isRepeating == true
            let values = isRepeating ? value.split(separator: ",").map(String.init) : [value]
            settings.removeAll { $0.option == name || (shared.contains(name) && shared.contains($0.option)) }
            settings.append(Setting(option: name, values: values, place: key))
        }
        return settings
    }

    private static func variables(_ path: [String]) -> (CommandTree) -> [(option: String, variable: String)] {
        { verb in
            verb.arguments.filter { $0.kind != .positional && $0.name != "config" }.map { argument in
                let words = (shared.contains(argument.name) ? [] : path) + [argument.name]
                return (argument.name, prefix + words.joined(separator: "_").uppercased().replacing("-", with: "_"))
            }
        }
    }

    private static func read(
        _ file: String, for verb: CommandTree, _ path: [String], _ tree: CommandTree
    ) throws -> [Setting] {
        var settings: [Setting] = []
        for entry in try entries(of: file) {
            try check(entry, in: file, tree)
            guard entry.table.isEmpty ? verb.option(entry.key) != nil : entry.table == path else { continue }
            settings.append(
                Setting(option: entry.key, values: entry.values.map(\.argument), place: "\(file):\(entry.line)"))
        }
        return settings
    }

    /// Throws `CommandFailure` for what no verb would take.
    static func check(_ entry: TOMLReader.Entry, in file: String, _ tree: CommandTree) throws {
        func refusal(_ reason: String) -> CommandFailure {
            CommandFailure(.badData, "\(file):\(entry.line): \(reason)")
        }
        if entry.table.isEmpty {
            guard shared.contains(entry.key) else {
                throw refusal(
                    "\(entry.key) is no option of every verb: it stands under the verb's table, such as [serve].")
            }
            return
        }
        guard let verb = tree.verb(named: entry.table), verb.subcommands.isEmpty else {
            throw refusal("there is no verb \(entry.table.joined(separator: " ")).")
        }
        guard let option = verb.option(entry.key), option.name != "config" else {
            let near = verb.arguments.filter { $0.kind != .positional }.map(\.name).filter {
                $0.hasPrefix(entry.key.prefix(3))
            }
            let hint = near.isEmpty ? "" : " Is it \(near.joined(separator: " or "))?"
            throw refusal("\(verb.name) has no option \(entry.key).\(hint)")
        }
        if option.kind == .flag {
            guard !entry.isArray, case .flag? = entry.values.first else {
                throw refusal("\(entry.key) is true or false.")
            }
        } else if entry.isArray, !option.isRepeating {
            throw refusal("\(entry.key) has one value.")
        }
    }

    // MARK: Arguments

    private static func isGiven(_ option: String, in arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains { $0 == "--\(option)" || $0.hasPrefix("--\(option)=") }
    }

    private static func value(of option: String, in arguments: [String]) -> String? {
        for (index, argument) in arguments.enumerated() {
            if argument == "--" { return nil }
            if argument == "--\(option)" { return index + 1 < arguments.count ? arguments[index + 1] : nil }
            if argument.hasPrefix("--\(option)=") { return String(argument.dropFirst(option.count + 3)) }
        }
        return nil
    }
}

/// The file that options stand in.
struct ConfigOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file of options; fieldwork.toml in the working folder, else /etc/fieldwork/fieldwork.toml, is read without it.",
            valueName: "file"))
    var config: String?
}
