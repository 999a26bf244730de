import ControlProtocol
import NowPlayingClient

/// `find`, `list`, `browse` and mpc's words for them.
enum Tracks {
    /// `find`: tracks by their tags.
    static func find(_ run: Invocation) throws(Failure) {
        let selection = try Selection(run, pairs: run.words)
        guard let selection else {
            throw .usage("find needs a tag and its text, or an option such as --artist", verb: run.verb.name)
        }
        var parameters = selection.parameters
        parameters["limit"] = nil
        try show(run, parameters, limit: try run.limit())
    }

    /// Prints the tracks of a query, a line each.
    private static func show(_ run: Invocation, _ parameters: JSONObject, limit: Int?) throws(Failure) {
        let template = try run.template()
        var parameters = parameters
        if let template { parameters["fields"] = try fields(template, always: "uri", run) }
        var number = 0
        let result = try run.libraryPages("library.query", parameters, limit: limit) { rows in
            for row in rows {
                number += 1
                run.output.line(line(LibraryRow(row), number, template, run.output))
            }
        }
        if number == 0, result["rows"]?.arrayValue?.isEmpty == true {
            for folder in run.words("--folder") { try Places.check(folder, run) }
        }
        if run.wantsJSON { return run.printJSON(result) }
        if number == 0, run.output.isTerminal { complain("no track matches; * stands for any text: 'miles*'") }
    }

    /// The fields that a template needs, and `always`, which every row has. `own`: variables that are not fields of tracks.
    /// Throws for an unknown variable.
    static func fields(
        _ template: Template, always: String, besides own: Set<String> = ["number"], _ run: Invocation
    ) throws(Failure) -> JSONValue {
        var names = [always]
        for variable in template.variables.sorted() where !own.contains(variable) {
            let name = LibraryRow.field(of: variable)
            guard !name.isEmpty, !names.contains(name) else { continue }
            guard TrackField(rawValue: name) != nil else {
                let nearest = NearestName.suggestion(for: name, among: TrackField.allCases.map(\.rawValue))
                throw .usage(
                    "--format: tracks have no \"\(TerminalText.safe(name))\""
                        + (nearest.map { "; did you mean \($0)?" } ?? ""), verb: run.verb.name)
            }
            names.append(name)
        }
        return .array(names.map(JSONValue.string))
    }

    /// A track as a line: by the template, or `Artist – Title  Album  4:05`.
    static func line(_ row: LibraryRow, _ number: Int, _ template: Template?, _ output: Output) -> String {
        if let template {
            return template.expand { $0 == "number" ? .number(Double(number)) : row.variable($0) }
        }
        let remark = StatusText.joined([row.text("album"), row.duration.map(ClockText.clock)])
        let table = TextTable([(row.name, remark)], margin: 0, columns: output.isTerminal ? output.columns : nil)
        return table.rows.map { $0.name + output.styled($0.remark, .dim) }.joined()
    }

    // MARK: Values

    /// `list`: the values of a tag.
    static func list(_ run: Invocation) throws(Failure) {
        let word = run.words[0]
        let tag = LibraryTags.name(word.text)
        var parameters = JSONObject([.init("tag", .string(tag))])
        parameters["filter"] = try Selection.filter(run, pairs: Array(run.words.dropFirst()))
        let template = try run.template()
        let result = try run.libraryPages("library.values", parameters, limit: try run.limit()) { rows in
            for row in rows.map(LibraryRow.init) {
                run.output.line(template.map { $0.expand(row.variable) } ?? row.text("value") ?? "")
            }
        }
        if run.wantsJSON { run.printJSON(result) }
    }

    // MARK: Folders

    /// `browse`: folders and tracks of a folder.
    static func browse(_ run: Invocation) throws(Failure) {
        let template = try run.template()
        var fields: JSONValue?
        if let template {
            fields = try Tracks.fields(template, always: "path", besides: ["number", "kind", "name"], run)
        }
        let result = try pages(run, fields) { row, number in
            let isFolder = row.text("kind") == "folder"
            let name = row.text("name") ?? row.text("path").map(LibraryRow.lastPart) ?? ""
            if let template {
                return template.expand { variable in
                    if variable == "name" { return .text(name) }
                    return variable == "number" ? .number(Double(number)) : row.variable(variable)
                }
            }
            guard !isFolder else { return run.output.styled(name + "/", .bold) }
            // The title of a file without one is its name.
            let title = row.text("title").flatMap { name.hasPrefix($0 + ".") || name == $0 ? nil : $0 }
            let remark = StatusText.joined([title, row.duration.map(ClockText.clock)])
            let columns = run.output.isTerminal ? run.output.columns : nil
            let table = TextTable([(name, remark)], margin: 0, columns: columns)
            return table.rows.map { $0.name + run.output.styled($0.remark, .dim) }.joined()
        }
        if run.wantsJSON { run.printJSON(result) }
    }

    /// mpc's `ls`: the paths of folders and tracks of a folder.
    static func ls(_ run: Invocation) throws(Failure) {
        let result = try pages(run, ["path"]) { row, _ in row.text("path") ?? "" }
        if run.wantsJSON { run.printJSON(result) }
    }

    private static func pages(
        _ run: Invocation, _ fields: JSONValue?, _ line: (LibraryRow, Int) -> String
    ) throws(Failure) -> JSONValue {
        var parameters = JSONObject()
        let folder = run.words.first.flatMap { $0.bytes.isEmpty || $0.text == "/" ? nil : $0 }
        if let folder {
            let member = try Places.member(folder)
            parameters[member.name] = member.value
        }
        parameters["fields"] = fields
        var number = 0
        return try Places.named(folder) { () throws(Failure) in
            try run.libraryPages("library.browse", parameters) { rows in
                for row in rows {
                    number += 1
                    run.output.line(line(LibraryRow(row), number))
                }
            }
        }
    }

    /// mpc's `listall`: the paths of all tracks of a folder and of the folders in it.
    static func listAll(_ run: Invocation) throws(Failure) {
        var parameters = JSONObject([.init("sort", "uri"), .init("fields", ["path"])])
        if let word = run.words.first {
            let path = try Places.folder(word)
            parameters["filter"] = ["any": [["uri": ["is": .string(path)]], LibraryTest.folder(path)]]
        }
        let result = try run.libraryPages("library.query", parameters) { rows in
            for row in rows { run.output.line(LibraryRow(row).text("path") ?? "") }
        }
        if run.wantsJSON { run.printJSON(result) }
    }
}
