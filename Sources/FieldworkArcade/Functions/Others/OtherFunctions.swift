/// Functions about where a script runs.
enum OtherFunctions {
    static let all: [Builtin] = [
        .many("Console", 0...Builtin.any) { machine, values in
            let parts = try values.map { try Coercion.text($0, machine) }
            let line = parts.joined(separator: ", ")
            try machine.chargeMemory(line.utf8.count + 32)
            machine.log(line)
            return .null
        },
        .none("GetEnvironment") { machine in
            let context = machine.context
            var members: [(String, Value)] = [
                ("version", .text("1.24")), ("engine", .text("native")), ("engineVersion", .text("Fieldwork")),
                ("application", .text(context.application)), ("locale", .text(context.locale)),
                ("timeZone", .text(context.zone.name)),
            ]
            if let reference = context.spatialReference {
                members.append(("spatialReference", try GeometryMembers.reference(reference, machine)))
            }
            return try machine.dictionary(members)
        },
        .many("GetUser", 0...2, .dataAccess) { machine, _ in
            guard let user = machine.context.user else { return .null }
            return try machine.dictionary([
                ("id", .text(user.username)), ("username", .text(user.username)), ("fullName", .text(user.fullName)),
                ("email", .text(user.email)), ("groups", try machine.array([])), ("role", .text("")),
                ("privileges", try machine.array([])),
            ])
        },
        .one("NextSequenceValue", .database) { machine, name in
            throw ArcadeError.runtime("There is no sequence “\(try Coercion.text(name, machine))”.")
        },
        .one("Portal", .portal) { machine, address in .portal(try Arguments.text(address, "The address", machine)) },
    ]
}
