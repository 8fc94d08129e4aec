import Foundation

/// Values that have a name in every script.
enum Constants {
    /// A constant that all evaluations share.
    enum Constant: Sendable {
        case number(Double)
        case newLine

        var value: Value {
            switch self {
            case .number(let number): .number(number)
            case .newLine:
                .dictionary(
                    DictionaryObject(
                        textFormatting.sorted { $0.key < $1.key }.map { ($0.key, .text($0.value)) }, isFixed: true))
            }
        }
    }

    static let textFormatting = [
        "newline": "\n", "tab": "\t", "singlequote": "'", "doublequote": "\"", "forwardslash": "/",
        "backwardslash": "\\",
    ]

    static func value(_ name: String) -> Constant? {
        switch name.lowercased() {
        case "pi": .number(.pi)
        case "infinity": .number(.infinity)
        case "nan": .number(.nan)
        case "textformatting": .newLine
        default: nil
        }
    }
}

/// What the place of a script gives it.
enum Globals {
    static func code(_ name: String, _ compiler: Compiler, at offset: Int) -> Code {
        let lower = name.lowercased()
        guard compiler.profile.globals.contains(lower) else {
            let message = "There is no \(name) in the profile \(compiler.profile.name)."
            compiler.report(.notSupported, message, at: offset)
            return { _ in throw ArcadeError(.notSupported, message, at: offset) }
        }
        return { machine in
            do { return try value(lower, machine) } catch { throw placed(error, at: offset) }
        }
    }

    private static func value(_ name: String, _ machine: Machine) throws -> Value {
        switch name {
        case "$feature":
            guard let feature = machine.feature else { throw ArcadeError.runtime("There is no $feature here.") }
            return .feature(feature)
        case "$originalfeature":
            guard let feature = machine.originalFeature else {
                throw ArcadeError.runtime("There is no $originalFeature here.")
            }
            return .feature(feature)
        case "$editcontext":
            return .dictionary(
                DictionaryObject([("editType", .text(machine.context.editType ?? "NA"))], isFixed: true))
        case "$view":
            let scale = machine.context.viewScale.map(Value.number) ?? .null
            return .dictionary(DictionaryObject([("scale", scale)], isFixed: true))
        case "$layer", "$featureset", "$aggregatedfeatures":
            guard let layer = try machine.source().layerOfFeature() else {
                throw ArcadeError(.dataAccess, "The feature is of no layer that can be read here.")
            }
            return try machine.featureSet(ArcadeFeatureQuery(base: .layer(layer)), parent: nil)
        case "$map": return .collection(.map)
        default: return .collection(.datastore)
        }
    }
}
