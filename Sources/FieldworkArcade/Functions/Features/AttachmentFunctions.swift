/// The files of features.
enum AttachmentFunctions {
    static let all: [Builtin] = [
        .many("Attachments", 1...2, .dataAccess) { machine, arguments in
            guard case .feature(let feature) = arguments[0] else {
                throw ArcadeError.runtime("Attachments needs a feature, and got \(arguments[0].kindName).")
            }
            let choice = try Choice(arguments.value(1), machine)
            let given = try ValueExport.feature(feature, machine)
            guard let found = try machine.source().attachments(of: given) else {
                throw ArcadeError(.notSupported, "Attachments can't be read by scripts here.")
            }
            try machine.charge(found.count)
            return try machine.array(
                try found.filter(choice.means).map { attachment in
                    try machine.dictionary([
                        ("id", .number(Double(attachment.id))), ("name", try machine.text(attachment.name)),
                        ("contentType", try machine.text(attachment.contentType)),
                        ("size", .number(Double(attachment.size))), ("keywords", try machine.text(attachment.keywords)),
                    ])
                })
        }
    ]

    /// Which attachments are meant: `{types, minsize, maxsize}`. Metadata of pictures is not read.
    private struct Choice {
        var types: [String] = []
        var sizes = -Double.infinity...Double.infinity

        init(_ value: Value, _ machine: Machine) throws {
            guard !value.isNull else { return }
            guard case .dictionary(let options) = value else {
                throw ArcadeError.runtime("Options of Attachments are a dictionary, and not \(value.kindName).")
            }
            switch options["types"] {
            case .array(let array)?: types = try array.elements.map { try Coercion.text($0, machine).lowercased() }
            case nil, .null?: break
            case let one?: types = [try Coercion.text(one, machine).lowercased()]
            }
            func size(_ name: String) throws -> Double? {
                guard let value = options[name], !value.isNull else { return nil }
                let number = try Coercion.number(value)
                return number.isNaN ? nil : number
            }
            let low = try size("minsize") ?? -.infinity
            sizes = low...max(low, try size("maxsize") ?? .infinity)
        }

        func means(_ attachment: ArcadeAttachment) -> Bool {
            let type = attachment.contentType.lowercased()
            return (types.isEmpty || types.contains(where: type.contains)) && sizes.contains(Double(attachment.size))
        }
    }
}
