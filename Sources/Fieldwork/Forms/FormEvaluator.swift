import FieldworkGeometry
import FieldworkREST
import Foundation

extension FeatureForm {
    /// Evaluates what elements make depend on values: whether they are visible, editable, required, and what they
    /// calculate. Run it after the form was made and after each change. Expressions that fail are reported and do not
    /// throw: their elements are visible, not editable, not required, and keep their values.
    @discardableResult
    public func evaluateExpressions() async throws -> [FormExpressionEvaluationError] {
        try await gate.run { [self] in try await FormEvaluator(form: self).evaluate() }
    }
}

/// Brings the elements of a form into the state that its expressions ask for.
struct FormEvaluator {
    private typealias Outcome = Result<ExpressionValue, ExpressionError>

    let form: FeatureForm

    /// What the names mean that every reader of forms knows.
    static func constant(_ name: String) -> Bool? {
        switch name {
        case "expr/system/true": true
        case "expr/system/false": false
        default: nil
        }
    }

    func evaluate() async throws -> [FormExpressionEvaluationError] {
        var errors: [FormExpressionEvaluationError] = []
        // Whether a value is calculated depends on whether it may be put in.
        for element in form.allElements { _ = try await showEditable(element) }
        var isStable = false
        for _ in 0..<Limits.formRounds where !isStable {
            errors = []
            var hasChanged = false
            for element in form.allElements {
                if let field = element as? FieldFormElement {
                    hasChanged = try await calculate(field, &errors) || hasChanged
                }
            }
            for element in form.elements {
                hasChanged = try await showVisible(element, isIn: true, &errors) || hasChanged
            }
            for element in form.allElements {
                if let field = element as? FieldFormElement {
                    hasChanged = try await showRequired(field, &errors) || hasChanged
                }
                let (changed, error) = try await showEditable(element)
                hasChanged = changed || hasChanged
                if let error { errors.append(error) }
            }
            isStable = !hasChanged
        }
        if !isStable {
            let text = "The expressions of this form go round in circles."
            errors.append(
                FormExpressionEvaluationError(
                    expressionName: "", elementLabel: form.title,
                    error: ExpressionError.evaluationFailed(details: text)))
        }
        for case let field as FieldFormElement in form.allElements { field.wasVisible = field.isVisible }
        return errors
    }

    // MARK: Expressions

    private func value(of name: String, _ profile: ExpressionContext.Profile) async throws -> Outcome {
        if let constant = Self.constant(name) { return .success(.boolean(constant)) }
        guard let expression = form.definition.expressions.first(where: { $0.name == name }) else {
            return .failure(.evaluationFailed(details: "The form has no expression \(name)."))
        }
        let context = ExpressionContext(
            profile: profile, feature: form.feature, originalAttributes: form.originalAttributes,
            isNew: form.context.isNew, timeZone: form.context.timeZone)
        do {
            return .success(try await form.expressions.value(of: expression.expression, in: context))
        } catch let error as ExpressionError {
            return .failure(error)
        } catch let error as CancellationError {
            throw error
        } catch {
            return .failure(.evaluationFailed(details: "\(error)"))
        }
    }

    /// What an expression says as a text.
    func text(of name: String) async throws -> String? {
        let value = try await value(of: name, .formCalculation).get().clientValue
        return value.map { ValueFormatter(layer: nil, timeZone: form.context.timeZone).text($0, format: .init()) }
    }

    /// A condition; nil with an error when it has no truth value.
    private func condition(
        _ name: String, of element: FormElement
    ) async throws -> (value: Bool?, error: FormExpressionEvaluationError?) {
        switch try await value(of: name, .formConstraint) {
        case .success(.boolean(let value)): return (value, nil)
        case .success:
            let error = ExpressionError.evaluationFailed(details: "The expression \(name) gives no truth value.")
            return (nil, report(error, name, element))
        case .failure(let error): return (nil, report(error, name, element))
        }
    }

    private func report(
        _ error: ExpressionError, _ name: String, _ element: FormElement
    ) -> FormExpressionEvaluationError {
        FormExpressionEvaluationError(expressionName: name, elementLabel: element.label, error: error)
    }

    // MARK: Rules

    private func showVisible(
        _ element: FormElement, isIn isGroupVisible: Bool, _ errors: inout [FormExpressionEvaluationError]
    ) async throws -> Bool {
        var isVisible = isGroupVisible
        if let name = element.expression("visibilityExpression") {
            let (value, error) = try await condition(name, of: element)
            if let error { errors.append(error) }
            isVisible = isVisible && value ?? true
        }
        var hasChanged = element.isVisible != isVisible
        if hasChanged { element.isVisible = isVisible }
        if let field = element as? FieldFormElement, field.wasVisible, !isVisible {
            hasChanged = clear(field) || hasChanged
        }
        for child in (element as? GroupFormElement)?.elements ?? [] {
            hasChanged = try await showVisible(child, isIn: isVisible, &errors) || hasChanged
        }
        return hasChanged
    }

    /// A value that nobody sees any more goes, unless the form keeps it or the field can't be without.
    private func clear(_ element: FieldFormElement) -> Bool {
        guard !form.preservesFieldValuesWhenHidden, let field = element.field, field.isNullable,
            form.context.accepts(field), element.value != nil
        else { return false }
        form.context.set(nil, of: element)
        return true
    }

    private func showEditable(_ element: FormElement) async throws -> (Bool, FormExpressionEvaluationError?) {
        var (isEditable, problem): (Bool, FormExpressionEvaluationError?) = (!form.context.usesEditableExpressions, nil)
        if let name = element.expression("editableExpression") {
            let (value, error) = try await condition(name, of: element)
            (isEditable, problem) = (value ?? false, error)
        }
        switch element {
        case let element as FieldFormElement:
            isEditable = isEditable && element.field.map(form.context.accepts) == true
        case is AttachmentsFormElement: isEditable = isEditable && form.context.acceptsAttachments
        case is GroupFormElement, is TextFormElement: isEditable = false
        default: break
        }
        guard element.isEditable != isEditable else { return (false, problem) }
        element.isEditable = isEditable
        return (true, problem)
    }

    private func showRequired(
        _ element: FieldFormElement, _ errors: inout [FormExpressionEvaluationError]
    ) async throws -> Bool {
        guard let field = element.field else { return false }
        var isRequired = form.context.needs(field)
        if !isRequired, let name = element.expression("requiredExpression") {
            let (value, error) = try await condition(name, of: element)
            if let error { errors.append(error) }
            isRequired = value ?? false
        }
        isRequired = isRequired && element.isVisible
        guard element.isRequired != isRequired else { return false }
        element.isRequired = isRequired
        return true
    }

    // MARK: Values

    /// Calculates the value of an element that nobody may put in.
    private func calculate(
        _ element: FieldFormElement, _ errors: inout [FormExpressionEvaluationError]
    ) async throws -> Bool {
        guard let name = element.expression("valueExpression"), let field = element.field,
            form.context.accepts(field), !element.isEditable
        else { return false }
        // Where it is not known whether somebody may put it in, what is there stays.
        if let editable = element.expression("editableExpression"),
            try await condition(editable, of: element).value == nil
        {
            return false
        }
        switch try await value(of: name, .formCalculation) {
        case .failure(let error):
            errors.append(report(error, name, element))
            return false
        case .success(let value):
            let cast: (any Sendable)?
            do {
                cast = try Self.cast(value, to: field)
            } catch {
                errors.append(report(error, name, element))
                return false
            }
            if FormValues.areEqual(cast, element.value) { return false }
            form.context.set(cast, of: element)
            return true
        }
    }

    /// A result as a value of a field.
    private static func cast(
        _ value: ExpressionValue, to field: FieldDefinition
    ) throws(ExpressionError) -> (any Sendable)? {
        let stored: AttributeValue?
        if case .number(let number) = value, !number.isFinite {
            throw .evaluationFailed(details: "The expression gives no number for \(field.name).")
        }
        switch (field.type, value) {
        case (_, .null): return nil
        case (.date, .date(let date)): return date
        case (.date, .number(let number)): return Date(timeIntervalSince1970: number / 1_000)
        case (.string, .text(let text)): return text
        case (.string, let other):
            return other.clientValue.map {
                ValueFormatter(layer: nil, timeZone: .gmt).text($0, format: .init())
            }
        case (.smallInteger, .number(let number)), (.integer, .number(let number)), (.bigInteger, .number(let number)):
            stored = Int64(exactly: number.rounded()).map(AttributeValue.integer)
        case (.single, .number(let number)), (.double, .number(let number)): stored = .real(number)
        case (_, .text(let text)): stored = .text(text)
        default: stored = nil
        }
        let client = stored.map { AttributeConversion.normalised($0, type: field.type) }
            .flatMap { AttributeConversion.clientValue($0, type: field.type) }
        guard let client else {
            throw .evaluationFailed(details: "The expression gives no value that \(field.name) can have.")
        }
        return client
    }
}
