//! Errors in each vendor's shape.

use serde_json::{Value, json};

use crate::endpoint::Wire;

/// Writes the body of an error response.
pub(crate) fn body(wire: Wire, status: u16, message: Option<&str>) -> Value {
    let message = message.unwrap_or_else(|| usual_words(status));
    match wire {
        Wire::Anthropic => json!({
            "type": "error",
            "error": {"type": anthropic_type(status), "message": message},
            "request_id": "req_fake",
        }),
        Wire::Responses | Wire::Chat => json!({
            "error": {
                "message": message,
                "type": openai_type(status),
                "param": null,
                "code": openai_code(status),
            },
        }),
        Wire::Gemini => json!({
            "error": {"code": status, "message": message, "status": gemini_status(status)},
        }),
    }
}

/// Writes the data of an error event within a stream.
pub(crate) fn event(wire: Wire, status: u16, message: Option<&str>, sequence: usize) -> Value {
    match wire {
        Wire::Responses => json!({
            "type": "error",
            "code": openai_code(status).unwrap_or_else(|| openai_type(status)),
            "message": message.unwrap_or_else(|| usual_words(status)),
            "param": null,
            "sequence_number": sequence,
        }),
        Wire::Anthropic | Wire::Chat | Wire::Gemini => body(wire, status, message),
    }
}

fn usual_words(status: u16) -> &'static str {
    match status {
        400 => "Invalid request",
        401 => "Invalid API key",
        403 => "Permission denied",
        404 => "Not found",
        413 => "Request too large",
        429 => "Rate limit reached",
        503 | 529 => "Overloaded",
        _ => "Internal server error",
    }
}

fn anthropic_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        503 | 529 => "overloaded_error",
        400..=499 => "invalid_request_error",
        _ => "api_error",
    }
}

fn openai_type(status: u16) -> &'static str {
    match status {
        429 => "rate_limit_error",
        400..=499 => "invalid_request_error",
        _ => "server_error",
    }
}

fn openai_code(status: u16) -> Option<&'static str> {
    match status {
        401 => Some("invalid_api_key"),
        404 => Some("model_not_found"),
        429 => Some("rate_limit_exceeded"),
        _ => None,
    }
}

fn gemini_status(status: u16) -> &'static str {
    match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        503 | 529 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        _ => "INTERNAL",
    }
}
